"""Configuration files of Toolsight and of clients: read, written, watched, and what may run through them."""
