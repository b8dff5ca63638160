"""The shape of the code: no circles of files, and mutants that its tests must catch."""
