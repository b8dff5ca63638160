"""`toolsight sessions import`, `sessions requests` and `toolsight agents`: what real agents did."""
