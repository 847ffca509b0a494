"""Redaction of secrets in decoded records."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
from kafka_messages import Message, arrow
from kafka_messages.secrets import REDACTED, marks

from .._core.errors import invalid_argument
from .._core.options import Options

SECRET_OPTIONS = ("showSecrets", "secretSalt")


@dataclass(frozen=True)
class Redaction:
    shows: bool = False
    # Key of the hash in the text that replaces a secret, so that equal secrets have equal texts; None: no hash.
    salt: str | None = None

    @classmethod
    def parse(cls, owner: str, given: Options) -> Redaction:
        found = cls(given.flag("showSecrets", False), given.text("secretSalt"))
        if found.shows and found.salt is not None:
            raise invalid_argument(f"{owner}: the options 'showSecrets' and 'secretSalt' cannot both be set")
        if found.salt == "":
            raise invalid_argument(f"{owner}: the option 'secretSalt' is empty; use random text")
        return found

    def applied(self, structs: pa.StructArray, message: type[Message]) -> pa.StructArray:
        if self.shows:
            return structs
        return arrow.redacted(structs, message, REDACTED if self.salt is None else marks(self.salt.encode()))
