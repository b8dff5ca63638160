"""Questions and details above a page."""
