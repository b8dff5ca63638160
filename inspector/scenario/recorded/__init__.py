"""Plays recorded runs of agents again through the loop, and measures what each setup would have cost."""
