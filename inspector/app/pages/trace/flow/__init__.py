"""The flow: what is called after what, by whom, and how sure that is."""
