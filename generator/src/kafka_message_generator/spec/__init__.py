"""Readers of definitions, settings and annotation files, with source locations."""
