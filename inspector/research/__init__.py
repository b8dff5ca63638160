"""Published tables measured again: generated catalogs and tasks, the methods, and their sections."""
