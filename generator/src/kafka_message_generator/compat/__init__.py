"""Compatibility of definitions: layouts of versions compared, the history of releases, findings with bytes that show them.

From the ground up: `signatures` has the bytes of a version as data, `order`, `compare` and `renames` compare two of them, and
`witness` finds bytes that two versions read differently. `store` has the definitions of every release, `sides` reads them,
`since` and `changes` say what each release brought. `wire`, `tags` and `declared` apply the rules of `findings`; `report`
joins them, and `formats` and `texts` print the result.
"""
