"""The manifest page: the manifest exactly as sent to the model."""
