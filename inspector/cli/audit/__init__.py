"""`toolsight budget`: what the servers of every client cost."""
