"""What the shape of the code is measured by: journeys through it, and mutants that its tests must catch."""
