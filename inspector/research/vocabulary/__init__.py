"""The words that generated catalogs and tasks are made of: JSON files, a server's things in a file each."""
