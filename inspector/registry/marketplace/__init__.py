"""The marketplace: plugins that could be installed, found when nothing that is there serves a request."""
