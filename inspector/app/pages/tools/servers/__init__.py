"""The servers page: the connection and the cost of each server."""
