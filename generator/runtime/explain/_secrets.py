"""Marks the spans of what is secret in a message, by the rule of ``secrets``."""

from __future__ import annotations

import re

from ..schema.spans import FAULT, OPENED, REST, Span
from ..secrets import Setting, is_secret_setting, secrets_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .._base.message import Message

_INDEX = re.compile(r"\[\d+\]")


def mark(top: Span, message: type[Message], prefix: str = "") -> None:
    """Mark what is secret in the spans of a message, whose paths begin with ``prefix``.

    Of a message that has secrets the unknown tagged fields, what cannot be read and what follows it are secret as well:
    nobody knows what is in them.
    """
    secrets = secrets_of(message)
    if not secrets.fields and not secrets.settings:
        return
    spans = list(top.all())
    values = {span.path: span.value for span in spans if span.role == "value"}
    settings = {setting.value: setting for setting in secrets.settings}
    for span in spans:
        path = span.path[len(prefix) :].removeprefix(".")
        names = _INDEX.sub("", path)
        if span.role in (FAULT, REST) or names.rpartition(".")[2] == "unknown_tagged_fields":
            conceal(span)
        elif span.role == OPENED:
            continue  # what is inside has been marked by itself
        elif names in secrets.fields or (names in settings and _is_secret(span.path, prefix, settings[names], values)):
            conceal(span)


def conceal(span: Span) -> None:
    """Mark a span with all that is in it."""
    for each in span.all():
        each.is_secret = True


def _is_secret(path: str, prefix: str, setting: Setting, values: dict[str, object]) -> bool:
    """Whether the value at a path is that of a secret setting; also if its name could not be read."""
    name = values.get(f"{path.rpartition('.')[0]}.{setting.name.rpartition('.')[2]}".removeprefix("."))
    kind = None
    if setting.resource_type is not None:
        inside = path[len(prefix) :].removeprefix(".")
        depth = setting.resource_type.count(".")
        owner = [part for part in (prefix, *inside.split(".")[:depth]) if part]
        kind = values.get(".".join([*owner, setting.resource_type.rpartition(".")[2]]))
    return not isinstance(name, str) or is_secret_setting(name, kind if isinstance(kind, int) else None)
