"""Merging of the definitions of several releases."""
