"""The union of the definitions of several releases."""
