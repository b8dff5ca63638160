"""What is bound when: the `tools` array of the next model call."""
