"""The access page: who may see which tools, and which grant decides."""
