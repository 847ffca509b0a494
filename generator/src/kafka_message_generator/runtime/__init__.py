"""Hand-written modules that are copied into every generated package."""
