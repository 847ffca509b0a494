"""Rendering of plans: lowering turns them into Python expressions, templates print these."""
