"""Lowering and printing of the codec, pure Python on precompiled structs."""
