"""Version 1 of the API: one module for each resource."""
