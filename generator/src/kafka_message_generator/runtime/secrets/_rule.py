"""Which fields and settings are secret, and copies of messages in which they are hidden."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from weakref import WeakKeyDictionary

from .._base.message import Message
from .._core.redaction import UNKNOWN, secret_names, secret_structs, text_of
from .._core.structs import StructBase, name_of
from .._core.value import dataclass
from .._core.wire import RawTaggedField
from ..schema.contents import FETCHED
from ._logs import is_metadata
from ._tables import OPEN_SETTINGS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias, TypeVar

    M = TypeVar("M", bound=Message)

    _Structs: TypeAlias = dict[str, list[dict[str, Any]]]
    Mark: TypeAlias = str | Callable[[bytes], str]
    """What stands where a secret was: a text, or what makes one of the secret's bytes."""

REDACTED = "(redacted)"
"""What stands where a secret was, unless something else is asked for."""

BROKER_LOGGER = 8
"""Kafka's ConfigResource.Type.BROKER_LOGGER. Its settings are names of loggers, and their values levels."""

_LISTENER = "listener.name."
_REAUTHENTICATION = "connections.max.reauth.ms"
"""The one setting without ``sasl.`` in its name that may be set for one SASL mechanism."""


@dataclass(frozen=True, slots=True)
class Setting:
    """Where a message has a setting. Each is the names of fields on the way, with dots; name and value are neighbours."""

    name: str
    value: str
    resource_type: str | None
    """What it is a setting of, a number of Kafka's ConfigResource.Type; None where the message does not say."""


@dataclass(frozen=True, slots=True)
class Secrets:
    """What is secret in a message."""

    fields: tuple[str, ...]
    """Fields that are always secret, each as the names on the way to it: ``upsertions.salted_password``."""
    settings: tuple[Setting, ...]
    """Settings, whose values are secret if their names say so."""

    def __bool__(self) -> bool:
        return bool(self.fields or self.settings)


_found: WeakKeyDictionary[type, Secrets] = WeakKeyDictionary()


def secrets_of(message: type[Message]) -> Secrets:
    """Return where the secrets of a message are, from its descriptor; without any, ``Secrets((), ())``."""
    found = _found.get(message)
    if found is None:
        structs = secret_structs(message)
        places = list(_places(structs, "", next(iter(structs)), ())) if structs else []
        fields = sorted(each for each in places if isinstance(each, str))
        settings = sorted((each for each in places if isinstance(each, Setting)), key=lambda each: each.name)
        found = _found[message] = Secrets(tuple(fields), tuple(settings))
    return found


def _places(structs: _Structs, path: str, name: str, around: tuple[tuple[str, str], ...]) -> Iterator[str | Setting]:
    """Yield the secrets in a struct at a path; ``around`` has the structs and paths that contain it, the inmost first."""
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
    """Return whether something in a message is or may be secret."""
    return bool(secrets_of(message))


def may_have_secrets(message: type[Message]) -> bool:
    """Return whether the bytes of a message may contain secrets: its own, or those in records of the log of KRaft."""
    return has_secrets(message) or name_of(message) in FETCHED


def is_secret_setting(name: str, resource_type: int | None = None) -> bool:
    """Whether the value of a setting is secret: it is a password, or Kafka does not define this setting.

    Names are compared without regard to case, behind the prefixes of a listener and of a SASL mechanism:
    ``listener.name.sasl_ssl.scram-sha-256.sasl.jaas.config`` is ``sasl.jaas.config``. ``resource_type`` is the number of
    Kafka's ConfigResource.Type that the setting is for; those of a broker logger (8) are log levels, and no secrets.
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
    """Marks such as ``(redacted 1a2b3c4d)``, equal for equal secrets under the same salt, for ``redacted``.

    They tell whether a secret changed. Take a random salt and forget it: who has it can try passwords.
    """
    from hmac import digest

    return lambda secret: f"(redacted {digest(salt, secret, 'sha256').hex()[:8]})"


def redacted(message: M, mark: Mark = REDACTED) -> M:
    """A copy of a message with ``mark`` where its secrets were, as text or as bytes; the rest is as it was.

    Null stays null: it says that there is no such value, as when a setting is removed. What is empty stays empty.
    Of a message that has secrets,
    the unknown tagged fields keep their tags only: nobody knows what is in them. Records of the log of KRaft, which
    FetchResponse and FetchSnapshotResponse carry between controllers, are secret as a whole.
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


def revealed(message: StructBase) -> str:
    """Return the text of a message, or of a struct inside one, with its secrets: ``repr`` and ``str`` redact them."""
    return text_of(message, is_revealed=True)


def _metadata_topics(message: Message) -> Iterator[Any]:
    """The topics in a message with records of the log of KRaft."""
    fetched = FETCHED.get(name_of(type(message)))
    if fetched is not None:
        for topic in _structs(message, fetched.topics):
            if any(is_metadata(getattr(topic, name)) for name in fetched.names):
                yield topic


def _hide(struct: Any, mark: Mark, field: str = "", around: tuple[Any, ...] = ()) -> None:
    """Replace the secrets in a struct and the structs within it."""
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
    """The mark of a secret, of the same type."""
    data = value.encode(errors="surrogatepass") if isinstance(value, str) else bytes(value)
    text = mark if isinstance(mark, str) else mark(data)
    return text if isinstance(value, str) else text.encode()


def _structs(struct: Any, path: str) -> Iterator[Any]:
    """The structs at the end of a path, each element of arrays on the way."""
    if not path:
        yield struct
        return
    name, _, rest = path.partition(".")
    value = getattr(struct, name)
    for inner in () if value is None else (value,) if isinstance(value, StructBase) else value:
        yield from _structs(inner, rest)


def _all_structs(struct: Any) -> Iterator[Any]:
    """Yield a struct and all structs within it."""
    yield struct
    for _, inner in _inner(struct):
        yield from _all_structs(inner)


def _inner(struct: Any) -> Iterator[tuple[str, Any]]:
    """Yield the structs in the fields of a struct, each with the name of the field."""
    for name in struct._names:
        value = getattr(struct, name)
        if isinstance(value, StructBase):
            yield name, value
        elif value is not None and not isinstance(value, str | bytes | int | float) and hasattr(value, "__iter__"):
            yield from ((name, inner) for inner in value if isinstance(inner, StructBase))
