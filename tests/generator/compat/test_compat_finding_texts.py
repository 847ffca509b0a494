"""The whole text of compatibility findings, with bytes that show the change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.compat_changes import (
    Edit,
    Json,
    both,
    box,
    change,
    field,
    findings,
    formatted,
    insert,
    kept_as,
    message,
    place,
    place_of,
    several,
    swap,
    without_key,
)

CASES: dict[str, tuple[tuple[Edit, ...], str]] = {
    "RELEASED_LAYOUT_CHANGED FIELD_ADDED": (
        (insert("OrderRequest", 2, field("Urgent", "bool")),),
        """OrderRequest 0 Urgent: RELEASED_LAYOUT_CHANGED (FIELD_ADDED): was Lines: [int32, int16]; is Urgent: bool
    new code, old bytes: fails: lines: INT32: 4 bytes needed at offset 7, 3 left
        00 00 00 00 00 00 00 00 00 00
        written by old code:
          0002  00 00 00 00  amount       0  INT32
          0006  00 00 00 00  lines.count  0  INT32
          000a  end
        read by new code:
          0002  00 00 00 00  amount  0  INT32
          0006  00           urgent  false  BOOLEAN
          0007  00 00 00     lines   INT32: 4 bytes needed at offset 7, 3 left
          000a  end
    old code, new bytes: fails: 1 byte left after the message, at offset 10
        00 00 00 00 00 00 00 00 00 00 00
        written by new code:
          0002  00 00 00 00  amount       0  INT32
          0006  00           urgent       false  BOOLEAN
          0007  00 00 00 00  lines.count  0  INT32
          000b  end
        read by old code:
          0002  00 00 00 00  amount       0  INT32
          0006  00 00 00 00  lines.count  0  INT32
          000a  00                        1 byte(s) left after the message, at offset 10
          000b  end
    keep the released versions unchanged; make the change in a new version (released in release 0)""",
    ),
    "RELEASED_LAYOUT_CHANGED NULLABLE": (
        (change("OrderRequest", 0, nullableVersions="0+"),),
        """OrderRequest 0 Customer: RELEASED_LAYOUT_CHANGED (NULLABLE): was Customer: string; is Customer: string?
    new code, old bytes: proved to read identically
    old code, new bytes: fails: customer: unexpected null at offset 0 in this version
        ff ff 00 00 00 00 00 00 00 00
        written by new code:
          0000  ff ff        customer     null  NULLABLE_STRING
          0002  00 00 00 00  amount       0  INT32
          0006  00 00 00 00  lines.count  0  INT32
          000a  end
        read by old code:
          0000  ff ff                    customer  unexpected null at offset 0 in this version
          0002  00 00 00 00 00 00 00 00            not read
          000a  end
    keep the released versions unchanged; make the change in a new version (released in release 0)""",
    ),
    "RELEASED_LAYOUT_CHANGED REORDERED": (
        (lambda found: insert("OrderRecord", 1, field("Paid", "int64"))(found), swap("OrderRecord", 1, 2)),
        """OrderRecord 0 Paid: RELEASED_LAYOUT_CHANGED (REORDERED): was Paid before Total; is Total before Paid
    new code, old bytes: reads differently: paid = 0 is read as 1
        00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 01
        written by old code:
          0000  00 00 00 00              ids.count  0  INT32
          0004  00 00 00 00 00 00 00 00  paid       0  INT64
          000c  00 00 00 00 00 00 00 01  total      1  INT64
          0014  end
        read by new code:
          0000  00 00 00 00              ids.count  0  INT32
          0004  00 00 00 00 00 00 00 00  total      0  INT64
          000c  00 00 00 00 00 00 00 01  paid       1  INT64
          0014  end
    old code, new bytes: reads differently: total = 0 is read as 1
        00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 01
        written by new code:
          0000  00 00 00 00              ids.count  0  INT32
          0004  00 00 00 00 00 00 00 00  total      0  INT64
          000c  00 00 00 00 00 00 00 01  paid       1  INT64
          0014  end
        read by old code:
          0000  00 00 00 00              ids.count  0  INT32
          0004  00 00 00 00 00 00 00 00  paid       0  INT64
          000c  00 00 00 00 00 00 00 01  total      1  INT64
          0014  end
    keep the released versions unchanged; make the change in a new version (released in release 1)""",
    ),
    "TAGGED_DEFAULT_CHANGED inside a tagged struct": (
        (
            insert("OrderRequest", 5, place(field("Shelf", "int32", "2+", tag=0, taggedVersions="2+", default="5"))),
            lambda found: place_of(found)[1].update(default="6"),
        ),
        """OrderRequest 2 Place.Shelf: TAGGED_DEFAULT_CHANGED: was 5 where tag 0 is absent; is 6 where tag 0 is absent
    new code, old bytes: reads differently: tag 0: place.shelf = 5 is read as 6
        00 00 00 00 00 01 01 00
        written by old code:
          0006  01  lines.count           0  UNSIGNED_VARINT  count+1 = 1
          0007  00  _tagged_fields.count  0  UNSIGNED_VARINT  absent, so gift = false, place = Struct(row=0, shelf=5)
          0008  end
        read by new code:
          0006  01  lines.count           0  UNSIGNED_VARINT  count+1 = 1
          0007  00  _tagged_fields.count  0  UNSIGNED_VARINT  absent, so gift = false, place = Struct(row=0, shelf=6)
          0008  end
    old code, new bytes: reads differently: tag 0: place.shelf = 6 is read as 5
        00 00 00 00 00 01 01 00
        written by new code:
          0006  01  lines.count           0  UNSIGNED_VARINT  count+1 = 1
          0007  00  _tagged_fields.count  0  UNSIGNED_VARINT  absent, so gift = false, place = Struct(row=0, shelf=6)
          0008  end
        read by old code:
          0006  01  lines.count           0  UNSIGNED_VARINT  count+1 = 1
          0007  00  _tagged_fields.count  0  UNSIGNED_VARINT  absent, so gift = false, place = Struct(row=0, shelf=5)
          0008  end
    keep the released versions unchanged; make the change in a new version (released in release 1)""",
    ),
    "TAGGED_DEFAULT_CHANGED to minus zero": (
        (
            insert("OrderRequest", 5, field("Weight", "float64", "2+", tag=1, taggedVersions="2+")),
            change("OrderRequest", 5, default="-0.0"),
        ),
        """OrderRequest 2 Weight: TAGGED_DEFAULT_CHANGED: was 0.0 where tag 1 is absent; is -0.0 where tag 1 is absent
    new code, old bytes: reads differently: tag 1: weight = 0.0 is read as -0.0
        00 00 00 00 00 01 01 00
        written by old code:
          0006  01  lines.count           0  UNSIGNED_VARINT  count+1 = 1
          0007  00  _tagged_fields.count  0  UNSIGNED_VARINT  absent, so gift = false, weight = 0.0
          0008  end
        read by new code:
          0006  01  lines.count           0  UNSIGNED_VARINT  count+1 = 1
          0007  00  _tagged_fields.count  0  UNSIGNED_VARINT  absent, so gift = false, weight = -0.0
          0008  end
    old code, new bytes: reads differently: tag 1: weight = -0.0 is read as 0.0
        00 00 00 00 00 01 01 00
        written by new code:
          0006  01  lines.count           0  UNSIGNED_VARINT  count+1 = 1
          0007  00  _tagged_fields.count  0  UNSIGNED_VARINT  absent, so gift = false, weight = -0.0
          0008  end
        read by old code:
          0006  01  lines.count           0  UNSIGNED_VARINT  count+1 = 1
          0007  00  _tagged_fields.count  0  UNSIGNED_VARINT  absent, so gift = false, weight = 0.0
          0008  end
    keep the released versions unchanged; make the change in a new version (released in release 1)""",
    ),
    "RELEASED_LAYOUT_CHANGED TAG_REFUSED": (
        (both(flexibleVersions="1+"), change("OrderRequest", 4, versions="1+", taggedVersions="1+")),
        """OrderRequest 1 Gift: RELEASED_LAYOUT_CHANGED (TAG_REFUSED): was tag 0 of other versions, rejected; is tag 0, Gift
    new code, old bytes: proved to read identically
    old code, new bytes: fails: _tagged_fields: tag 0 at offset 8 is not valid in this version
        01 00 00 00 00 01 01 01 00 01 01
        written by new code:
          0007  01     _tagged_fields.count  1  UNSIGNED_VARINT
          0008  00 01  gift                  0  TAG_AND_SIZE  tagged field
          000a  01     gift                  true  BOOLEAN
          000b  end
        read by old code:
          0007  01     _tagged_fields.count  1  UNSIGNED_VARINT
          0008  00 01  _tagged_fields        tag 0 at offset 8 is not valid in this version
          000a  01                           not read
          000b  end
    keep the released versions unchanged; make the change in a new version (released in release 1)""",
    ),
    "RELEASED_LAYOUT_CHANGED TAG_REFUSED, reversed": (
        (
            several(both(flexibleVersions="1+"), change("OrderRequest", 4, versions="1+", taggedVersions="1+")),
            change("OrderRequest", 4, versions="2+", taggedVersions="2+"),
        ),
        """OrderRequest 1 Gift: RELEASED_LAYOUT_CHANGED (TAG_REFUSED): was tag 0, Gift; is tag 0 of other versions, rejected
    new code, old bytes: fails: _tagged_fields: tag 0 at offset 8 is not valid in this version
        01 00 00 00 00 01 01 01 00 01 01
        written by old code:
          0007  01     _tagged_fields.count  1  UNSIGNED_VARINT
          0008  00 01  gift                  0  TAG_AND_SIZE  tagged field
          000a  01     gift                  true  BOOLEAN
          000b  end
        read by new code:
          0007  01     _tagged_fields.count  1  UNSIGNED_VARINT
          0008  00 01  _tagged_fields        tag 0 at offset 8 is not valid in this version
          000a  01                           not read
          000b  end
    old code, new bytes: proved to read identically
    keep the released versions unchanged; make the change in a new version (released in release 1)""",
    ),
    "TAGGED_DEFAULT_CHANGED": (
        (change("OrderRequest", 4, default="true"),),
        """OrderRequest 2 Gift: TAGGED_DEFAULT_CHANGED: was false where tag 0 is absent; is true where tag 0 is absent
    new code, old bytes: reads differently: tag 0: gift = false is read as true
        00 00 00 00 00 01 01 00
        written by old code:
          0006  01  lines.count           0  UNSIGNED_VARINT  count+1 = 1
          0007  00  _tagged_fields.count  0  UNSIGNED_VARINT  absent, so gift = false
          0008  end
        read by new code:
          0006  01  lines.count           0  UNSIGNED_VARINT  count+1 = 1
          0007  00  _tagged_fields.count  0  UNSIGNED_VARINT  absent, so gift = true
          0008  end
    old code, new bytes: reads differently: tag 0: gift = true is read as false
        00 00 00 00 00 01 01 00
        written by new code:
          0006  01  lines.count           0  UNSIGNED_VARINT  count+1 = 1
          0007  00  _tagged_fields.count  0  UNSIGNED_VARINT  absent, so gift = true
          0008  end
        read by old code:
          0006  01  lines.count           0  UNSIGNED_VARINT  count+1 = 1
          0007  00  _tagged_fields.count  0  UNSIGNED_VARINT  absent, so gift = false
          0008  end
    keep the released versions unchanged; make the change in a new version (released in release 0)""",
    ),
}


def twice(**more: Any) -> Edit:
    """Return an edit to two structs with a field of the same name, changed in the second one."""

    def edit(found: dict[str, Json]) -> None:
        one, two = field("Name", "string"), field("Name", "string", **more)
        found["OrderRecord"]["fields"] = [
            field("Ones", "[]One", fields=[one]),
            field("Twos", "[]Two", fields=[two]),
        ]

    return edit


def test_same_field_name_in_two_structs_is_distinguished(tmp_path: Path) -> None:
    found = findings(
        tmp_path, twice(), several(message("OrderRecord", validVersions="0-1"), twice(nullableVersions="1+"))
    )
    assert formatted(found, "PYTHON_TYPE_CHANGED") == [
        "OrderRecord Twos[].Name: PYTHON_TYPE_CHANGED: the type was str, is str | None\n    keep it"
    ]


def test_changed_element_type_changes_the_json_type(tmp_path: Path) -> None:
    assert formatted(findings(tmp_path, box), "JSON_TYPE_CHANGED") == [
        "OrderRecord Ids: JSON_TYPE_CHANGED: the value in JSON was an array, each a number, is an array, each an object\n"
        "    keep it"
    ]


def test_removed_api_key_is_reported(tmp_path: Path) -> None:
    assert formatted(findings(tmp_path, without_key), "API_KEY_CHANGED") == [
        "OrderRecord: API_KEY_CHANGED: had apiKey 3, has none\n    keep the key"
    ]


def test_changed_message_type_is_reported_at_its_type(tmp_path: Path) -> None:
    found = findings(tmp_path, kept_as("metadata"), kept_as("coordinator-value"))
    assert formatted(found, "MESSAGE_TYPE_CHANGED") == [
        "StockValue: MESSAGE_TYPE_CHANGED: was of type metadata, is of type coordinator-value\n    keep the type"
    ]
    assert [each.location.path for each in found if each.rule == "MESSAGE_TYPE_CHANGED"] == ["$.type"]


@pytest.mark.parametrize("name", CASES)
def test_finding_has_the_expected_text(name: str, tmp_path: Path) -> None:
    edits, text = CASES[name]
    assert text in formatted(findings(tmp_path, *edits), name.split()[0])
