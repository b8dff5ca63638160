"""What another setup of the same session would cost."""
