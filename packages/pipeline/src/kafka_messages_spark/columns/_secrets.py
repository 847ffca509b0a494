"""What becomes of secrets in decoded records: hidden, or shown if an option says so; which they are, the package knows."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
from kafka_messages import arrow
from kafka_messages._base.message import Message
from kafka_messages.secrets import REDACTED, marks

from .._core.errors import wrong
from .._core.options import Options

SECRET_OPTIONS = ("showSecrets", "secretSalt")


@dataclass(frozen=True)
class Hiding:
    """What the options say; it goes to the workers as it is."""

    shows: bool = False
    salt: str | None = None
    """With a salt, marks tell which hidden values are the same."""

    @classmethod
    def parse(cls, owner: str, given: Options) -> Hiding:
        found = cls(given.flag("showSecrets", False), given.text("secretSalt"))
        if found.shows and found.salt is not None:
            raise wrong(f"{owner}: the options 'showSecrets' and 'secretSalt' cannot be both set")
        if found.salt == "":
            raise wrong(f"{owner}: the option 'secretSalt' is empty; take some random text")
        return found

    def applied(self, structs: pa.StructArray, message: type[Message]) -> pa.StructArray:
        """The structs of some messages as they may be shown."""
        if self.shows:
            return structs
        return arrow.redacted(structs, message, REDACTED if self.salt is None else marks(self.salt.encode()))
