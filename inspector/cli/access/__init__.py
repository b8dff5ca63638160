"""`toolsight access`: who may see which tools, and which grant decides."""
