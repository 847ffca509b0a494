"""Small definitions that together exercise all generated code; see test_render."""

from __future__ import annotations

from tests.support.broken.case import common, sub
from tests.support.specs import field, message, optional

FIXED = ("bool", "int8", "int16", "uint16", "int32", "uint32", "int64", "float64", "uuid")
VARIABLE = ("string", "bytes")
NULL = {"nullableVersions": "0+"}
UUID = "x7D3Ck_ZRA22-dzIvu_pnQ"


def tagged(name: str, kind: str, tag: int, **more: object) -> dict[str, object]:
    """Return a field that is tagged in the flexible versions from 2 on."""
    return field(name, kind, "2+", tag=tag, taggedVersions="2+", **more)


KINDS = message(
    # Fixed-width fields before each kind of length, so that every way to read them together is printed.
    *(field(f"Run{number}", kind) for number, kind in enumerate(FIXED)),
    field("Text", "string", about='Text with a default, and a "quoted" \\ description.'),
    field("Count", "int8"),
    field("Blob", "bytes", zeroCopy=True),
    field("MaybeText", "string", nullableVersions="2+"),
    field("MaybeBlob", "bytes", **NULL, default="null"),
    field("OldMaybe", "bytes", nullableVersions="0-1"),
    field("Batch", "records", **NULL),
    field("OnlyBatch", "records"),
    field("Classic", "string", flexibleVersions="none"),
    field("ClassicMaybe", "string", flexibleVersions="none", **NULL),
    *(field(f"Each{kind}", f"[]{kind}") for kind in (*FIXED, *VARIABLE)),
    *(field(f"Maybe{kind}", f"[]{kind}", **NULL) for kind in (*FIXED, *VARIABLE)),
    sub("Part", field("X", "int16"), field("Y", "string", "2+", default="why"), type="Part"),
    sub("MaybePart", field("X"), type="MaybePart", nullableVersions="2+"),
    sub("Pieces", field("X"), field("Y", "bytes"), type="[]Element"),
    sub("MaybeParts", field("Later", versions="2+"), type="[]Nothing", **NULL),
    name="Kinds",
    validVersions="1-2",
    about="Every type, plain and nullable.",
)

TAGS = message(
    *(tagged(f"Tag{tag}", kind, tag) for tag, kind in enumerate((*FIXED, *VARIABLE))),
    tagged("Text", "string", 11, default='it\'s "here" \\', nullableVersions="2+"),
    tagged("Null", "string", 12, default="null", nullableVersions="2+"),
    tagged("Truth", "bool", 13, default="true"),
    tagged("Id", "uuid", 14, default=UUID),
    tagged("Ratio", "float64", 15, default="NaN"),
    tagged("Endless", "float64", 16, default="-Infinity"),
    tagged("Numbers", "[]int32", 17),
    tagged("MaybeNumbers", "[]uint16", 18, nullableVersions="2+", default="null"),
    tagged("MaybeNames", "[]string", 19, nullableVersions="2+"),
    sub("Part", field("X", "string"), field("Inner", "[]int8"), versions="2+", tag=20, taggedVersions="2+"),
    sub(
        "MaybePart",
        field("X", "uuid", default=UUID),
        type="MaybePart",
        versions="2+",
        tag=21,
        taggedVersions="2+",
        nullableVersions="2+",
        default="null",
    ),
    sub(
        "PartOrNull",
        field("X"),
        tagged("Y", "bool", 0),
        type="PartOrNull",
        versions="2+",
        tag=22,
        taggedVersions="2+",
        nullableVersions="2+",
    ),
    field("Mixed", "int32", tag=23, taggedVersions="3+", default="0x10"),
    field("Gone", "string", "0-1", default="old", ignorable=True),
    field("Old", "bytes", "0-1"),
    field("OldNumbers", "[]int32", "0-1", nullableVersions="0-1", default="null"),
    sub("OldPart", field("X", "float64"), type="OldPart", versions="0-1"),
    name="TagsResponse",
    validVersions="1-3",
    type="response",
    apiKey=7,
)

KEYS = message(
    sub(
        "Topics",
        field("Name", "string", mapKey=True),
        sub("Parts", field("X"), field("Replicas", "[]int32"), field("Isr", "[]int32"), type="[]Part"),
        field("First", "[]int16"),
        field("Second", "[]int16"),
        type="[]Topic",
    ),
    sub(
        "Groups",
        field("Id", "uuid", mapKey=True),
        field("Name", "string", mapKey=True, nullableVersions="0+"),
        type="[]Group",
        nullableVersions="1+",
    ),
    field("Owner", "Shared"),
    field("Others", "[]Shared"),
    field("Never", versions="9+"),
    commonStructs=[
        common("Shared", field("X"), sub("Deep", type="Deep") | {"fields": None}),
        common("Deep", field("Y")),
    ],
    name="KeysValue",
    validVersions="1-2",
    type="coordinator-value",
    apiKey=3,
)

EMPTY = message(name="EmptyKey", type="coordinator-key", apiKey=3, validVersions="0", flexibleVersions="none")

BITS = {"int16": (16,), "int32": (16, 32), "int64": (16, 32, 64)}
FORMS = [(kind, f"{form}{bits}") for kind, widths in BITS.items() for bits in widths for form in ("packed", "upacked")]
ENCODED = message(
    field("Before"),
    *(field(f"A{kind}{name}", kind, encoding=name) for kind, name in FORMS),
    field("Narrow", "int64", encoding={"0": "fixed64", "1": "fixed32", "2+": "packed64"}),
    *(field(f"Each{kind}{name}", f"[]{kind}", elementEncoding=name) for kind, name in FORMS if kind == "int64"),
    field("Short", "[]int64", elementEncoding="fixed16"),
    field("Maybe", "[]int32", elementEncoding="packed32", nullableVersions="2+"),
    tagged("Tag", "int32", 0, encoding="packed32"),
    name="Encoded",
    validVersions="1-2",
    taggedFieldFormat="interleaved",
)

OPTIONAL = message(
    field("Before"),
    sub("Part", field("X"), optionalFields=[optional("Y", "uuid", "0x10", default=UUID)]),
    sub("Pieces", field("X"), type="[]Element"),
    name="Optional",
    validVersions="1-2",
    flexibleVersions="none",
    versionsWithOptional="2+",
    optionalFields=[
        optional("Number", "int64", "0x1", default="-1"),
        optional("Text", "string", "0x2", nullable=True),
        optional("Null", "bytes", "0x3", nullable=True, default="null"),
        optional("Many", "[]int32", "0x4"),
        optional("Inner", "Inner", "0x00ff", fields=[field("Z", "string", "2+")]),
        optional("MaybeInner", "MaybeInner", "0x100", nullable=True, fields=[field("Z", "string", "2+")]),
        optional("NullInner", "NullInner", "0x101", nullable=True, default="null", fields=[field("Z", versions="2+")]),
    ],
)

ASK = message(name="TagsRequest", type="request", apiKey=7, validVersions="1-3")

SAMPLES = {str(sample["name"]): sample for sample in (KINDS, TAGS, KEYS, EMPTY, ENCODED, OPTIONAL, ASK)}
