"""Definitions of several releases as one set: every message with all versions that any of them has."""
