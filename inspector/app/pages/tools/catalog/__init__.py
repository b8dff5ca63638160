"""The servers and their tools as one list, and everything about the one under the cursor."""
