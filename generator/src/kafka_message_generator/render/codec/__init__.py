"""Lowering and printing of the codec: pure Python with precompiled ``struct.Struct`` objects."""
