"""Models and prices through litellm."""
