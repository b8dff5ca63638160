"""The settings dialog: model, toolset, profile and every setting of the session."""
