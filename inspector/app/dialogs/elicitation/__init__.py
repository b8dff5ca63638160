"""Questions that servers ask through their client: a form, or an address to visit."""
