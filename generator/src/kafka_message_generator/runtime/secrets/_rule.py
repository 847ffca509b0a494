"""Secret fields and configs, and redacted copies of messages.

``specs/kafka/secrets.json`` lists the fields; ``_core/redaction.py`` redacts them in ``repr``.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterator

from .._base.message import Message
from .._core.redaction import UNKNOWN, secret_names, secret_structs, text_of
from .._core.structs import StructBase, name_of
from .._core.value import dataclass
from .._core.wire import RawTaggedField
from ..schema.contents import FETCHED
from ._detection import is_metadata
from ._tables import OPEN_SETTINGS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias, TypeVar

    M = TypeVar("M", bound=Message)

    _Structs: TypeAlias = dict[str, list[dict[str, Any]]]
    Mark: TypeAlias = str | Callable[[bytes], str]
    """Replacement of a secret: a string, or a function of the secret's bytes."""

REDACTED = "(redacted)"
"""Default replacement of a secret."""
_REDACTED_BYTES = b64encode(REDACTED.encode()).decode()

# Kafka's ConfigResource.Type.BROKER_LOGGER, whose configs are log levels.
BROKER_LOGGER = 8

_LISTENER = "listener.name."
# The only config per SASL mechanism without ``sasl.`` in its name.
_REAUTHENTICATION = "connections.max.reauth.ms"


@dataclass(frozen=True, slots=True)
class Setting:
    """Paths of a config's name and value in a message."""

    name: str
    value: str
    resource_type: str | None
    """Path of the config's ConfigResource.Type, or None."""


@dataclass(frozen=True, slots=True)
class Secrets:
    """The secrets of a message type."""

    fields: tuple[str, ...]
    """Paths of secret fields, such as ``upsertions.salted_password``."""
    settings: tuple[Setting, ...]

    def __bool__(self) -> bool:
        return bool(self.fields or self.settings)


_found: dict[str, Secrets] = {}


def secrets_of(message: type[Message]) -> Secrets:
    name = name_of(message)
    found = _found.get(name)
    if found is None:
        structs = secret_structs(message)
        places = list(_places(structs, "", next(iter(structs)), ())) if structs else []
        fields = sorted(each for each in places if isinstance(each, str))
        settings = sorted((each for each in places if isinstance(each, Setting)), key=lambda each: each.name)
        found = _found[name] = Secrets(tuple(fields), tuple(settings))
    return found


def _places(structs: _Structs, path: str, name: str, around: tuple[tuple[str, str], ...]) -> Iterator[str | Setting]:
    around = ((name, path), *around)
    holder = path[:-1].rpartition(".")[2]
    for field in structs[name]:
        place, rule = f"{path}{field['name']}", field.get("secret")
        if rule is True:
            yield place
        elif rule and holder in rule.get("in", (holder,)):
            resource = rule.get("resourceType")
            owners = [above for each, above in around if any(other["name"] == resource for other in structs[each])]
            yield Setting(f"{path}{rule['name']}", place, f"{owners[0]}{resource}" if owners else None)
        if (kind := field["type"].removeprefix("[]")) in structs:
            yield from _places(structs, f"{place}.", kind, around)


def has_secrets(message: type[Message]) -> bool:
    return bool(secrets_of(message))


def may_have_secrets(message: type[Message]) -> bool:
    """Return whether a message may contain secrets or metadata records."""
    return has_secrets(message) or name_of(message) in FETCHED


def is_secret_setting(name: str, resource_type: int | None = None) -> bool:
    """Return whether a config value is secret: a password, or a config unknown to Kafka.

    Names are case-insensitive; prefixes of listeners and SASL mechanisms (``listener.name.sasl_ssl.scram-sha-256.``)
    are ignored. Configs of ``resource_type`` 8 (a broker logger) are never secret.
    """
    if resource_type == BROKER_LOGGER:
        return False
    name = name.lower()
    if name in OPEN_SETTINGS:
        return False
    if not name.startswith(_LISTENER):
        return True
    name = name[len(_LISTENER) :].partition(".")[2]
    if name in OPEN_SETTINGS:
        return False
    name = name.partition(".")[2]
    return not (name in OPEN_SETTINGS and (name.startswith("sasl.") or name == _REAUTHENTICATION))


def marks(salt: bytes) -> Callable[[bytes], str]:
    """Return a ``mark`` for ``redacted`` that replaces a secret by a keyed hash such as ``(redacted 1a2b3c4d)``.

    Equal secrets have equal hashes. Use a random salt and discard it: anyone with the salt can test guesses.
    """
    from hmac import digest

    return lambda secret: f"(redacted {digest(salt, secret, 'sha256').hex()[:8]})"


def redacted(message: M, mark: Mark = REDACTED) -> M:
    """Return a copy of a message in which ``mark`` replaces each secret.

    Null and empty values stay. Also replaces the unknown tagged fields of messages that declare secrets, and the
    records of the metadata log in fetch responses.
    """
    from copy import deepcopy

    copy = deepcopy(message)
    _hide(copy, mark)
    for topic in _metadata_topics(copy):
        fetched = FETCHED[name_of(type(message))]
        for partition in _structs(topic, fetched.partitions):
            _replace(partition, fetched.records, mark)
        for struct in _all_structs(topic):
            _replace(struct, UNKNOWN, mark)
    return copy


def redacted_json(value: object) -> object:
    """Replace the base64 of redacted bytes by ``(redacted)`` in Kafka's JSON form of a message."""
    if isinstance(value, dict):
        return {name: redacted_json(each) for name, each in value.items()}
    if isinstance(value, list):
        return [redacted_json(each) for each in value]
    return REDACTED if value == _REDACTED_BYTES else value


def revealed(message: StructBase) -> str:
    """Return the ``repr`` of a message or struct without redaction."""
    return text_of(message, is_revealed=True)


def _metadata_topics(message: Message) -> Iterator[Any]:
    fetched = FETCHED.get(name_of(type(message)))
    if fetched is not None:
        for topic in _structs(message, fetched.topics):
            if any(is_metadata(getattr(topic, name)) for name in fetched.names):
                yield topic


def _hide(struct: Any, mark: Mark, field: str = "", around: tuple[Any, ...] = ()) -> None:
    for name in list(secret_names(struct, field, around)):
        _replace(struct, name, mark)
    for name, inner in _inner(struct):
        _hide(inner, mark, name, (*around, struct))


def _replace(struct: Any, name: str, mark: Mark) -> None:
    value = getattr(struct, name, None)
    if value and name == UNKNOWN:
        struct.unknown_tagged_fields = tuple(RawTaggedField(raw.tag, _marked(raw.data, mark)) for raw in value)
    elif value:  # null and empty values are not secret
        setattr(struct, name, _marked(value, mark))


def _marked(value: Any, mark: Mark) -> Any:
    data = value.encode(errors="surrogatepass") if isinstance(value, str) else bytes(value)
    text = mark if isinstance(mark, str) else mark(data)
    return text if isinstance(value, str) else text.encode()


def _structs(struct: Any, path: str) -> Iterator[Any]:
    if not path:
        yield struct
        return
    name, _, rest = path.partition(".")
    value = getattr(struct, name)
    for inner in () if value is None else (value,) if isinstance(value, StructBase) else value:
        yield from _structs(inner, rest)


def _all_structs(struct: Any) -> Iterator[Any]:
    yield struct
    for _, inner in _inner(struct):
        yield from _all_structs(inner)


def _inner(struct: Any) -> Iterator[tuple[str, Any]]:
    for name in struct._names:
        value = getattr(struct, name)
        if isinstance(value, StructBase):
            yield name, value
        elif value is not None and not isinstance(value, str | bytes | int | float) and hasattr(value, "__iter__"):
            yield from ((name, inner) for inner in value if isinstance(inner, StructBase))
