"""The Textual app: screens over the workbench. It draws the session state and decides nothing."""
