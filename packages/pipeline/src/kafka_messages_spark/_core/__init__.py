"""Errors, options, type conversion and worker settings that all layers use."""
