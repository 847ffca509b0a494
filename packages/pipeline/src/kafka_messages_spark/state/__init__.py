"""State of incremental runs: the rows that a job derives from each file, and what they cover."""
