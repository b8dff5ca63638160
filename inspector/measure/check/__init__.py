"""Checks of tool definitions: facts with their proof, what they cost, and sentences that mend them."""
