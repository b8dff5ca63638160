"""`toolsight budget`: what every client's servers cost."""
