"""Tools beside those of connected servers: registries and marketplaces."""
