"""What is searched: the texts of tools, their words and vectors, and the index over them."""
