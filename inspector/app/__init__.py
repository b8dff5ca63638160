"""The Textual app: screens over the workbench. It draws the session's state and makes no decisions."""
