"""`python -m inspector` is `toolsight`."""

from inspector.cli import main

main()
