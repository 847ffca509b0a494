"""Compatibility of definitions: wire signatures, the history of releases, and findings with bytes that show them.

From the ground up: `signatures` describes the bytes of a version as data, `order`, `compare` and `renames` compare two of
them, and `witness` finds bytes that two versions read differently. `store` holds the definitions of every release,
`definition_sets` reads them, `availability` and `changes` list what each release added and removed. `wire`, `tags` and
`declared` apply the rules of `findings`; `report` combines them, and `formats` and `texts` print the result.
"""
