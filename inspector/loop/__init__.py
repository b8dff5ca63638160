"""The discovery loop: model calls, what is bound, guards, and the call of a tool."""
