"""The profile page: the profile in use and every setting."""
