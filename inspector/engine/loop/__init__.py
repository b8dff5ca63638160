"""The discovery loop: model calls, searches, tool calls, approvals."""
