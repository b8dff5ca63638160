"""JSON Schema, with the package jsonschema."""
