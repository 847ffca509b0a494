"""Functions that convert between binary and struct columns."""
