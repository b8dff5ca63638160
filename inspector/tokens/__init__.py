"""What a request costs: counts, manifest, deliveries, prices and the prompt cache."""
