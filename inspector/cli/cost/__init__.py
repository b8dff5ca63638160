"""`toolsight cost`: the ways to deliver tools, priced."""
