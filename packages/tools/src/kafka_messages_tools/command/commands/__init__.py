"""Modules of the subcommands, imported on use."""
