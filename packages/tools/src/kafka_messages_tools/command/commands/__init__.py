"""Subcommands, imported on use."""
