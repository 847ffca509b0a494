"""Generator of typed packages: reads and checks message definitions, plans each version's layout, and prints Python."""
