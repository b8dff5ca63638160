"""The SDK's client, and what stands between it and a server's bytes."""
