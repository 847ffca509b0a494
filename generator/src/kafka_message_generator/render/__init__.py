"""Rendering of plans to source text: lowering builds the expressions, templates print them."""
