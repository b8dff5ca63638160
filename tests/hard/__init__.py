"""Hard cases that take minutes, each a script that prints a line: run by hand, or by `make bench-hard`."""
