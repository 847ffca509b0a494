"""What every message class can do, on top of its printed functions, and what reads messages by their names."""
