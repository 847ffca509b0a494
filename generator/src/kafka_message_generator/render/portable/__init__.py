"""The portable rendering: pure Python on precompiled structs, no dependency."""
