"""Typed helpers shared by several folders of tests."""
