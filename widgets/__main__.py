"""`python -m widgets` opens the gallery."""

from widgets.gallery import Gallery

if __name__ == "__main__":
    Gallery().run()
