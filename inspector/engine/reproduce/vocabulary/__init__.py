"""The words that the testbed's tools and tasks are made of: ours, read from no published benchmark."""
