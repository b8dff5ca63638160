"""`toolsight doctor`: whether everything works here, local models, orphaned processes, circuit breakers."""
