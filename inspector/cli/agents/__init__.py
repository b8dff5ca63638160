"""`toolsight sessions import`, `sessions requests` and `toolsight sessions agents`: what real agents did."""
