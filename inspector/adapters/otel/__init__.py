"""Spans for OpenTelemetry: as OTLP's JSON in a file, or to a collector over HTTP (extra `otel`)."""
