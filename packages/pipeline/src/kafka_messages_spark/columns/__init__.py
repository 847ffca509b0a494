"""Functions that convert columns of bytes to structs and back, and their implementation in the workers."""
