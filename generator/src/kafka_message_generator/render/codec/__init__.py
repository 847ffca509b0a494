"""The printed codec: pure Python on precompiled structs, no dependency."""
