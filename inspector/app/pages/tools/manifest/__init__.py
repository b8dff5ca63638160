"""The manifest, exactly as the model is sent it."""
