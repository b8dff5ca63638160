"""The words of generated catalogs and tasks: JSON files, one per server and four shared ones."""
