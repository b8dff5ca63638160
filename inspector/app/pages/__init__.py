"""The six places of the app and their pages, a folder each: screen, content, job, stylesheet."""
