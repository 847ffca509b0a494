"""Columns of bytes as columns of structs, and back: functions for columns and data frames, and what they run in workers."""
