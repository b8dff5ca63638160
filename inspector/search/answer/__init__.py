"""What becomes of an order: results with their reasons, and what would change them."""
