"""Compatibility of definitions: wire signatures, the history of releases, and findings with counterexamples.

* `signatures` describes the bytes of a version; `order`, `compare` and `renames` compare two of them.
* `witness` finds bytes that two versions read differently.
* `store`, `definition_sets`, `availability` and `changes` handle the history of releases.
* `wire`, `tags` and `declared` apply the rules of `findings`; `report`, `formats` and `texts` print the result.
"""
