"""The budget page: the next request, every call, the ways to deliver tools, and what-if."""
