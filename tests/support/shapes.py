"""Messages in the shape of Kafka's own test messages, with bytes from Kafka's classes."""

from __future__ import annotations

from tests.support.specs import field, message


def part(name: str, type: str, versions: str = "0+", **more: object) -> dict[str, object]:
    """Return a struct field with a string and a number."""
    fields = [field("MyString", "string", versions), field("MyInt", "int32", versions)]
    return field(name, type, versions, fields=fields, **more)


# A header with a client id of int16 length in every version, including flexible ones.
HEADER = message(
    field("ApiKey", "int16"),
    field("ApiVersion", "int16"),
    field("CorrelationId"),
    field("ClientId", "string", "1+", nullableVersions="1+", ignorable=True, flexibleVersions="none"),
    name="Header",
    type="header",
    validVersions="0-2",
    flexibleVersions="2+",
)

NULLABLE_STRUCTS = message(
    part("First", "One", nullableVersions="0+", default="null"),
    part("Second", "Two", nullableVersions="1+"),
    part("Third", "Three", "1+", nullableVersions="1+", tag=0, taggedVersions="1+", default="null"),
    part("Fourth", "Four", "1+", nullableVersions="1+", tag=1, taggedVersions="1+"),
    name="Parts",
    validVersions="0-2",
    flexibleVersions="1+",
)

TAGS = message(
    field("Numbers", "[]int32", "1+", tag=0, taggedVersions="1+"),
    field("Text", "string", "1+", tag=1, taggedVersions="1+", nullableVersions="1+", default="null"),
    field("Short", "int16", "1+", tag=2, taggedVersions="1+", default="123"),
    field("Ratio", "float64", "1+", tag=3, taggedVersions="1+", default="12.34"),
    field("Word", "string", "1+", tag=4, taggedVersions="1+"),
    field("Blob", "bytes", "1+", tag=5, taggedVersions="1+", nullableVersions="1+"),
    field("Id", "uuid", "1+", tag=6, taggedVersions="1+", default="H3KKO4NTRPaCWtEmm3vW7A"),
    field("Long", "int64", "1+", tag=7, taggedVersions="1+", default="0xcafcacafcacafca"),
    field("Sub", "Sub", "2+", tag=8, taggedVersions="2+", ignorable=True, fields=[field("Word", "string", "2+")]),
    field("Late", "int64", "2+", tag=9, taggedVersions="2+", ignorable=True),
    name="Tags",
    validVersions="0-2",
    flexibleVersions="1+",
)

GOATS = message(
    field("Goats", "[]Goat", "1+", fields=[field("Color", "int8"), field("Name", "string", "2+")]),
    field("Sheep", "[]int32"),
    name="Goats",
    validVersions="0-2",
    flexibleVersions="1+",
)
