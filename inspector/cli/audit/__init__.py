"""`toolsight audit`: what every client's servers cost."""
