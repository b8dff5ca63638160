"""Where vectors and the memory of past searches are kept."""
