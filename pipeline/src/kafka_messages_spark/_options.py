"""Options: text to text, as everywhere in Spark; names and words like true are read without regard to case."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ._errors import MODES, near, unsupported_mode, wrong

_UNITS = {"": 1, "b": 1, "k": 1 << 10, "kb": 1 << 10, "m": 1 << 20, "mb": 1 << 20, "g": 1 << 30, "gb": 1 << 30}


class Options:
    """The options of one call: every one must be known, and each is read by its kind."""

    def __init__(self, owner: str, options: Mapping[str, object] | None, known: tuple[str, ...]) -> None:
        self._owner = owner
        by_lower = {name.lower(): name for name in known}
        self._values: dict[str, str] = {}
        for name, value in (options or {}).items():
            if not isinstance(value, str):
                raise wrong(f"{owner}: options map text to text, not {name!r} to {value!r}")
            if name.lower() not in by_lower:
                hint = near(name, known)
                raise wrong(f"{owner}: there is no option {name!r}{hint} The options are {', '.join(known)}.")
            self._values[by_lower[name.lower()]] = value

    def text(self, name: str) -> str | None:
        return self._values.get(name)

    def flag(self, name: str, default: bool) -> bool:
        value = self._values.get(name)
        if value is None:
            return default
        return self.choice(name, value, ("true", "false")) == "true"

    def choice(self, name: str, default: str, choices: tuple[str, ...]) -> str:
        value = self._values.get(name, default)
        for choice in choices:
            if value.lower() == choice.lower():
                return choice
        raise wrong(f"{self._owner}: the option {name!r} is one of {', '.join(choices)}, not {value!r}")

    def mode(self, default: str = "FAILFAST") -> str:
        value = self._values.get("mode", default).upper()
        if value not in MODES:
            raise unsupported_mode(self._owner, self._values["mode"])
        return value

    def size(self, name: str, default: int) -> int:
        """Bytes, with the endings that Spark's size settings have: 128m."""
        value = self._values.get(name)
        if value is None:
            return default
        found = re.fullmatch(r"\s*(\d+)\s*([kmg]?b?)\s*", value.lower())
        if not found or not int(found[1]):
            raise wrong(f"{self._owner}: the option {name!r} is a size such as 128m, not {value!r}")
        return int(found[1]) * _UNITS[found[2]]


DECODE_OPTIONS = ("mode", "columnNameOfCorruptRecord", "fields", "unknownTaggedFields", "trailingBytes", "validateUtf8")


@dataclass(frozen=True)
class DecodeOptions:
    """What ``from_kafka`` and ``decode`` are told; it goes to the workers as it is."""

    mode: str = "FAILFAST"
    corrupt_column: str | None = None
    fields: tuple[str, ...] = ()
    unknown_tagged_fields: bool = False
    trailing: str = "error"
    validate_utf8: bool = True

    @classmethod
    def parse(cls, owner: str, options: Mapping[str, str] | None) -> DecodeOptions:
        given = Options(owner, options, DECODE_OPTIONS)
        corrupt = given.text("columnNameOfCorruptRecord")
        fields = given.text("fields")
        names = () if fields is None else tuple(name.strip() for name in fields.split(","))
        if fields is not None and not all(names):
            raise wrong(f"{owner}: the option 'fields' is a list of names with commas between, not {fields!r}")
        if corrupt is not None and not corrupt.strip():
            raise wrong(f"{owner}: the option 'columnNameOfCorruptRecord' is the name of a column, not {corrupt!r}")
        mode = given.mode()
        if corrupt is not None and mode != "PERMISSIVE":
            raise wrong(f"{owner}: 'columnNameOfCorruptRecord' needs the option 'mode' to be PERMISSIVE, not {mode}")
        return cls(
            mode=mode,
            corrupt_column=corrupt,
            fields=names,
            unknown_tagged_fields=given.flag("unknownTaggedFields", False),
            trailing=given.choice("trailingBytes", "error", ("error", "ignore")),
            validate_utf8=given.flag("validateUtf8", True),
        )
