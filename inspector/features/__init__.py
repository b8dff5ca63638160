"""What a person can do, a folder for each feature; `feature_list.py` is the table of contents."""
