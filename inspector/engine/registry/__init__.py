"""Many tools in one place: what keeps them, what brings them there, and searches over all of them."""
