"""Parser of case-insensitive Spark options."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from kafka_messages.errors import did_you_mean

from .errors import MODES, invalid_argument, unsupported_mode

_UNITS = {"": 1, "b": 1, "k": 1 << 10, "kb": 1 << 10, "m": 1 << 20, "mb": 1 << 20, "g": 1 << 30, "gb": 1 << 30}


class Options:
    """Options of one call; unknown names and invalid values raise PySparkValueError."""

    def __init__(self, owner: str, options: Mapping[str, object] | None, known: tuple[str, ...]) -> None:
        self._owner = owner
        by_lower = {name.lower(): name for name in known}
        self._values: dict[str, str] = {}
        for name, value in (options or {}).items():
            if not isinstance(value, str):
                raise invalid_argument(f"{owner}: options must map str to str, not {name!r} to {value!r}")
            if name.lower() not in by_lower:
                hint = did_you_mean(name, known) or "."
                raise invalid_argument(f"{owner}: unknown option {name!r}{hint} Known are {', '.join(known)}.")
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
        raise invalid_argument(f"{self._owner}: the option {name!r} must be one of {', '.join(choices)}, not {value!r}")

    def mode(self, default: str = "FAILFAST") -> str:
        value = self._values.get("mode", default).upper()
        if value not in MODES:
            raise unsupported_mode(self._owner, self._values["mode"])
        return value

    def size(self, name: str, default: int) -> int:
        value = self._values.get(name)
        if value is None:
            return default
        found = re.fullmatch(r"\s*([0-9]+)\s*([kmg]?b?)\s*", value.lower())
        if not found or not int(found[1]):
            raise invalid_argument(
                f"{self._owner}: the option {name!r} must be a size above 0, such as 128m, not {value!r}"
            )
        return int(found[1]) * _UNITS[found[2]]

    def count(self, name: str) -> int | None:
        value = self._values.get(name)
        if value is None:
            return None
        if not re.fullmatch(r"\s*[0-9]{1,18}\s*", value) or not int(value):
            raise invalid_argument(f"{self._owner}: the option {name!r} must be an integer above 0, not {value!r}")
        return int(value)

    def time(self, name: str) -> float | None:
        value = self._values.get(name)
        if value is None:
            return None
        try:
            found = datetime.fromisoformat(value.strip())
        except ValueError:
            raise invalid_argument(
                f"{self._owner}: the option {name!r} must be a time such as 2026-03-31T08:00:00Z, not {value!r}"
            ) from None
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()

    def paths(self) -> tuple[str, ...]:
        paths = [] if (path := self.text("path")) is None else [path]
        if (text := self.text("paths")) is not None:
            try:
                several = json.loads(text)
            except ValueError:
                several = None
            if not isinstance(several, list) or not all(isinstance(each, str) for each in several):
                raise invalid_argument(f"{self._owner}: the option 'paths' must be a JSON list of paths, not {text!r}")
            paths += several
        if not paths:
            raise invalid_argument(f"{self._owner}: no path given; use load(path) or the option 'path' or 'paths'")
        return tuple(paths)

    def corrupt_column(self, mode: str) -> str | None:
        name = self.text("columnNameOfCorruptRecord")
        if name is not None and not name.strip():
            raise invalid_argument(
                f"{self._owner}: the option 'columnNameOfCorruptRecord' must be a column name, not {name!r}"
            )
        if name is not None and mode != "PERMISSIVE":
            raise invalid_argument(
                f"{self._owner}: the option 'columnNameOfCorruptRecord' requires mode=PERMISSIVE, not {mode}"
            )
        return name


DECODE_OPTIONS = ("mode", "columnNameOfCorruptRecord", "fields", "unknownTaggedFields", "trailingBytes", "validateUtf8")


@dataclass(frozen=True)
class DecodeOptions:
    mode: str = "FAILFAST"
    corrupt_column: str | None = None
    fields: tuple[str, ...] = ()
    unknown_tagged_fields: bool = False
    trailing: str = "error"
    validate_utf8: bool = True

    @classmethod
    def parse(cls, owner: str, options: Mapping[str, str] | None, trailing: str = "error") -> DecodeOptions:
        """Parse options; ``trailing`` is the default of ``trailingBytes``."""
        given = Options(owner, options, DECODE_OPTIONS)
        fields = given.text("fields")
        names = () if fields is None else tuple(name.strip() for name in fields.split(","))
        if fields is not None and not all(names):
            raise invalid_argument(
                f"{owner}: the option 'fields' must be a comma-separated list of names, not {fields!r}"
            )
        mode = given.mode()
        return cls(
            mode=mode,
            corrupt_column=given.corrupt_column(mode),
            fields=names,
            unknown_tagged_fields=given.flag("unknownTaggedFields", False),
            trailing=given.choice("trailingBytes", trailing, ("error", "ignore")),
            validate_utf8=given.flag("validateUtf8", True),
        )
