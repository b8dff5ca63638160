"""What is called after what in the recorded sessions, and how well that predicts the next call."""
