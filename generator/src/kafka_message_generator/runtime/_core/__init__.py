"""Helpers of the generated classes: wire primitives, arrays, keyed collections, struct bases."""
