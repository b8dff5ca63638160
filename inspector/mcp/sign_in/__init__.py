"""Signing in to servers with OAuth: where tokens are kept, how a person answers, what the SDK may do."""
