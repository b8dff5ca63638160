"""`toolsight sessions`: the list, and one session shown as a timeline, events or spans."""
