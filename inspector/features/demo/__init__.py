"""A demonstration: servers, requests and models that need no key."""
