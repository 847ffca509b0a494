"""Union of the definitions of several releases."""
