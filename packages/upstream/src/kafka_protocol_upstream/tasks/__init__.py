"""The tasks of the command line, a module each."""
