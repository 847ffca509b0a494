"""Helpers of generated classes: wire primitives, arrays, keyed collections, struct bases."""
