"""The words that generated catalogs and tasks are made of."""
