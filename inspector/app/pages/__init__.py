"""The six places of the app. Each page has a folder with its screen, content, job and stylesheet."""
