"""Redaction of spans, according to the rules in ``secrets``."""

from __future__ import annotations

import re

from ..schema.spans import FAULT, OPENED, REST, Span
from ..schema.types import PRIMITIVES
from ..secrets import Setting, is_secret_setting, secrets_of
from ..secrets._rule import has_secrets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .._base.message import Message

_INDEX = re.compile(r"\[\d+\]")
# Header fields of fixed size, which never contain bytes of the body.
_CERTAIN = ("request_api_key", "request_api_version", "correlation_id")
# Types of fixed size.
_FIXED = frozenset(each.name for each in PRIMITIVES.values())
_UNKNOWN = "unknown_tagged_fields"
_REDACTED_REST = "redacted, may be secret: --show-secrets shows it"


def mark(top: Span, message: type[Message], prefix: str = "") -> None:
    if not has_secrets(message):
        return
    secrets = secrets_of(message)
    spans = list(top.all())
    values = {span.path: span.value for span in spans if span.role == "value"}
    settings = {setting.value: setting for setting in secrets.settings}
    inside = {id(each) for span in spans if span.role == OPENED for child in span.children for each in child.all()}
    for span in spans:
        path = span.path[len(prefix) :].removeprefix(".")
        names = _INDEX.sub("", path)
        if span.role == OPENED and names in secrets.fields and "RECORDS" in span.type:
            _redact_closed(span)
        if span.role == OPENED or id(span) in inside:
            continue  # nested spans are already redacted
        is_unknown = span.role in (FAULT, REST) or names.rpartition(".")[2] == _UNKNOWN
        is_setting = names in settings and _is_secret(span.path, prefix, settings[names], values)
        is_empty = span.role == "value" and span.value in ("", b"")
        if is_unknown or ((is_setting or names in secrets.fields) and not is_empty):
            redact(span)


def _redact_closed(span: Span) -> None:
    # Redact keys, values, compressed data and unreadable bytes of secret records.
    for leaf in span.leaves():
        if leaf.role in (FAULT, REST) or isinstance(leaf.value, bytes):
            redact(leaf)
        if leaf.unpacked is not None:
            _redact_closed(leaf.unpacked[1])


def redact_header(top: Span, *, is_damaged: bool) -> None:
    """Redact header fields that may contain bytes of the body because a length is damaged."""
    for span in top.leaves():
        is_odd = isinstance(span.value, str) and not span.value.isprintable()
        if span.name not in _CERTAIN and (is_damaged or is_odd or _UNKNOWN in span.path):
            redact(span)


def redact_uncertain(top: Span) -> None:
    """Redact a damaged message from its first leaf of variable size on, including notes other than errors."""
    is_certain = True
    for leaf in top.leaves():
        is_certain = is_certain and leaf.type in _FIXED
        if not is_certain:
            leaf.is_secret = True
            leaf.note = leaf.note if leaf.role in (FAULT, REST) else ""


def note_of(leaf: Span, is_redacted: bool) -> str:
    if not is_redacted or leaf.role not in (FAULT, REST):
        return leaf.note
    return f"{leaf.note}{'; ' if leaf.note else ''}{_REDACTED_REST}"


def redact(span: Span) -> None:
    for each in span.all():
        each.is_secret = True


def _is_secret(path: str, prefix: str, setting: Setting, values: dict[str, object]) -> bool:
    name = values.get(f"{path.rpartition('.')[0]}.{setting.name.rpartition('.')[2]}".removeprefix("."))
    kind = None
    if setting.resource_type is not None:
        inside = path[len(prefix) :].removeprefix(".")
        depth = setting.resource_type.count(".")
        owner = [part for part in (prefix, *inside.split(".")[:depth]) if part]
        kind = values.get(".".join([*owner, setting.resource_type.rpartition(".")[2]]))
    return not isinstance(name, str) or is_secret_setting(name, kind if isinstance(kind, int) else None)
