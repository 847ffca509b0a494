"""A message with sizes that can be added up by hand, and its bytes."""

from __future__ import annotations

from .specs import field, message

# Fields of each kind: plain, encoded, in an array, of an older version, tagged, and without a choice of encodings.
PROBE = message(
    field("A", "int16"),
    field("B", "int32", encoding={"0-1": "fixed32", "2+": "packed32"}),
    field("Text", "string", "0+"),
    field("Pieces", "[]Part", nullableVersions="0+", fields=[field("X", "int64"), field("Flag", "int8", "1+")]),
    field("Old", versions="0"),
    field("T", "[]int32", "2+", tag=0, taggedVersions="2+"),
)

# A=-1, B=100, Text="hi", two pieces (X=-2 Flag=1, X=300 Flag=2), T=[1, 2, 70]; without the tag section's contents.
V2 = "ffff" "c801" "036869" "03" "fffffffffffffffe0100" "000000000000012c0200"
V2_TAGGED = V2 + "01" "000d" "04" "00000001" "00000002" "00000046"
