"""Typed helpers that several folders of tests share."""
