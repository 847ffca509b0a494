"""Definitions, settings and annotation files, read into values that know their file, line and JSON path."""
