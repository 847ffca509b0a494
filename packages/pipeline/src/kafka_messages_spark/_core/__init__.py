"""Errors, options, type conversion and worker settings."""
