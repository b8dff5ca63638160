"""What makes composition adaptive: what runs in the loop beside searching and calling."""
