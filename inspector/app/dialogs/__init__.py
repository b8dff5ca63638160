"""Dialogs: questions and details on top of a page."""
