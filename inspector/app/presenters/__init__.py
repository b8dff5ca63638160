"""From the domain to rows and text: pure functions, nothing here knows a screen."""
