"""Files that people write: configurations, scenarios, labelled requests, predicates."""
