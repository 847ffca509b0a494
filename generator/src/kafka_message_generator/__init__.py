"""Generator of typed packages: reads definitions, checks them, plans each version, and renders Python."""
