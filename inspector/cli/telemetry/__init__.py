"""`toolsight stats` and `backlog`: statistics over recorded sessions."""
