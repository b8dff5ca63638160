"""Processes of servers: noted while they run, ended after the app was killed, told of at the next start."""
