"""The panels of the session screen: each draws one part of the view."""
