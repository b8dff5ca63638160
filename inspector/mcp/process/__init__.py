"""Processes of servers: noted while they run, ended after the app was killed, reported at the next start."""
