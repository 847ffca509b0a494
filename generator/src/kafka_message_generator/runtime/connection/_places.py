"""Objects that the iterators yield."""

from __future__ import annotations

import re

from .._core.collection import KeyedCollection
from .._core.display import display, is_int, summary
from .._core.value import dataclass
from ..errors import EncodeError
from ..protocol import ErrorCode
from ..schema.loops import path_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any
    from uuid import UUID

    from ..schema.loops import ValuePath
    from ._tables import EntityType, Named

# Entity types with integer names, and the bits of these integers.
NUMBERS = {"brokerId": 32, "producerId": 64}
_DIGITS = re.compile(r"[0-9]{1,10}").fullmatch


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


class Error:
    """Error in a response, read-only."""

    __slots__ = ("_code", "_place", "_text")
    __match_args__ = ("path", "code", "message")

    def __init__(self, path: str, code: ErrorCode, message: str | None) -> None:
        self._place: ValuePath = path
        self._code: int = code
        self._text = message

    @property
    def path(self) -> str:
        """Path of the code: ``topics[3].partitions[0].error_code``."""
        return path_of(self._place)

    @property
    def code(self) -> ErrorCode:
        return ErrorCode(self._code)

    @property
    def message(self) -> str | None:
        return self._text

    def _values(self) -> tuple[str, ErrorCode, str | None]:
        return self.path, self.code, self.message

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Error):
            return NotImplemented
        return self._values() == other._values()

    def __hash__(self) -> int:
        return hash(self._values())

    def __repr__(self) -> str:
        return f"Error(path={self.path!r}, code={self.code!r}, message={self.message!r})"

    def __reduce__(self) -> tuple[type[Error], tuple[str, ErrorCode, str | None]]:
        return Error, self._values()


@dataclass(frozen=True, slots=True)
class ErrorCodeSite:

    field: str
    text: str | None
    is_nullable: bool
    # Candidate topic name fields: depth, field, rule from ``entities.json``.
    topics: tuple[tuple[int, str, Named | None], ...]
    groups: tuple[tuple[int, str, Named | None], ...]
    topic_ids: tuple[tuple[int, str, None], ...]
    partitions: tuple[tuple[int, str, None], ...]


class ErrorCodePlace:
    """Error code field of a response. Assigning ``code`` or ``message`` changes the response."""

    __slots__ = ("_place", "_site", "_structs")

    def __init__(self, site: ErrorCodeSite, structs: tuple[Any, ...], place: ValuePath) -> None:
        self._site = site
        self._structs = structs
        self._place = place

    @property
    def path(self) -> str:
        """Path of the code: ``topics[3].partitions[0].error_code``."""
        return path_of(self._place)

    @property
    def code(self) -> ErrorCode:
        """Error code. Assigning raises TypeError for anything but an int, and ValueError beyond int16."""
        code = getattr(self._structs[-1], self._site.field)
        if not _is_number(code):
            name: str = self._structs[0].NAME
            raise EncodeError(f"expected an error code, got {summary(code)}", name, path=self.path)
        return ErrorCode(code)

    @code.setter
    def code(self, code: int) -> None:
        if not _is_number(code):
            raise TypeError(f"the error code at {self.path} must be of type int, not {display(code)}")
        if not is_int(code, 16):
            raise ValueError(f"the error code at {self.path} must be an int16, not {display(code)}")
        setattr(self._structs[-1], self._site.field, int(code))

    @property
    def has_message(self) -> bool:
        return self._site.text is not None

    @property
    def message(self) -> str | None:
        """Error message for the code, or None.

        Assigning raises TypeError for other types, and AttributeError if ``has_message`` is False.
        """
        text: str | None = None if self._site.text is None else getattr(self._structs[-1], self._site.text)
        return text

    @message.setter
    def message(self, message: str | None) -> None:
        if self._site.text is None:
            raise AttributeError(f"there is no error message field at {self.path}")
        if not isinstance(message, str | None):
            raise TypeError(f"the error message at {self.path} must be of type str or None, not {display(message)}")
        setattr(self._structs[-1], self._site.text, message)

    def _reset(self) -> None:
        setattr(self._structs[-1], self._site.field, 0)
        if self._site.text is not None:
            setattr(self._structs[-1], self._site.text, None if self._site.is_nullable else "")

    @property
    def topic(self) -> str | None:
        """Topic name, or None."""
        name: str | None = self._first(self._site.topics, "topicName")
        return name or None

    @property
    def topic_id(self) -> UUID | None:
        """Topic id, the zero id if it is not set; None if the message type has no topic id here."""
        found: UUID | None = self._first(self._site.topic_ids, "")
        return found

    @property
    def partition(self) -> int | None:
        """Partition number; None if the message type has no partition number here."""
        number: int | None = self._first(self._site.partitions, "")
        return number

    @property
    def group(self) -> str | None:
        """Group id, or None."""
        name: str | None = self._first(self._site.groups, "groupId")
        return name or None

    def _first(self, fields: tuple[tuple[int, str, Named | None], ...], wanted: str) -> Any:
        for depth, field, named in fields:
            struct = self._structs[depth]
            if named is None or kind_of(named, struct, None) == wanted:
                return getattr(struct, field)
        return None

    def __repr__(self) -> str:
        return f"<ErrorCodePlace {self.path}: {self.code.name}>"


class Endpoint:
    """Host and port in a message. Assigning changes the message."""

    __slots__ = ("_names", "_place", "_struct")

    def __init__(self, place: ValuePath, struct: Any, names: tuple[str, str]) -> None:
        self._place = place
        self._struct = struct
        self._names = names  # names of the host and port fields

    @property
    def path(self) -> str:
        """Path of the struct that contains the host: ``brokers[0]``; empty for the message itself."""
        return path_of(self._place)

    @property
    def host(self) -> str:
        host: str = getattr(self._struct, self._names[0])
        return host

    @host.setter
    def host(self, host: str) -> None:
        if not isinstance(host, str):
            raise TypeError(f"the host {self._where()} must be of type str, not {display(host)}")
        setattr(self._struct, self._names[0], host)

    @property
    def port(self) -> int:
        """Port, 0 to 65535, or -1 for none."""
        port: int = getattr(self._struct, self._names[1])
        return port

    @port.setter
    def port(self, port: int) -> None:
        if not _is_number(port):
            raise TypeError(f"the port {self._where()} must be of type int, not {display(port)}")
        setattr(self._struct, self._names[1], port)

    def _where(self) -> str:
        return f"at {self.path}" if self.path else "of the message"

    def __repr__(self) -> str:
        return f"<Endpoint {self.path}: {self.host}:{self.port}>"


@dataclass(frozen=True, slots=True)
class EntitySite:

    type: EntityType
    path: str
    field: str | None
    is_key: bool
    # Values that identify no entity: the empty string and wildcards.
    nothing: tuple[str, ...]

    def is_name(self, stored: str | int) -> bool:
        if isinstance(stored, str) and self.type in NUMBERS:
            return _DIGITS(stored) is not None
        return stored >= 0 if isinstance(stored, int) else stored not in self.nothing


class Entity:
    """Name or id of a topic, group, broker or other entity in a message. Assigning ``value`` changes the message."""

    __slots__ = ("_holder", "_index", "_indices", "_site", "_within")
    # `_traversal.Entities` fills these slots without a constructor, in this order.
    # Struct, or array of names.
    _holder: Any
    _index: Any
    _indices: tuple[int, ...]
    _site: EntitySite
    # Array that contains the struct, if the value is a key of this array.
    _within: object

    @property
    def path(self) -> str:
        """Path of the value: ``topics[3].name``, ``groups[0]``."""
        return self._site.path % (self._indices if self._site.field is not None else (*self._indices, self._index))

    @property
    def type(self) -> EntityType:
        """Entity type, such as ``topicName``."""
        return self._site.type

    @property
    def value(self) -> str | int:
        """Id of a broker or producer as ``int``, else name as ``str``. Assigning another type raises TypeError."""
        stored = self._stored
        return int(stored) if isinstance(stored, str) and self._site.type in NUMBERS else stored

    @value.setter
    def value(self, value: str | int) -> None:
        wanted = int if self.type in NUMBERS else str
        if not isinstance(value, wanted) or isinstance(value, bool):
            raise TypeError(f"the {self.type} at {self.path} must be of type {wanted.__name__}, not {display(value)}")
        if value == self.value:
            return  # the stored text of a number may begin with 0
        stored = str(value) if isinstance(self._stored, str) else value
        if self._site.field is not None:
            self._set(self._site.field, stored)
        elif isinstance(self._holder, list):
            self._holder[self._index] = stored
        else:
            raise TypeError(f"{self.path} is in {display(self._holder)}, which cannot be changed; use a list")

    def _set(self, field: str, stored: str | int) -> None:
        within = getattr(self, "_within", None) if self._site.is_key else None
        if isinstance(within, KeyedCollection):
            within._set_key(self._holder, field, stored)
        else:
            setattr(self._holder, field, stored)

    @property
    def _stored(self) -> str | int:
        field = self._site.field
        stored: str | int = self._holder[self._index] if field is None else getattr(self._holder, field)
        return stored

    @property
    def _slot(self) -> tuple[int, object]:
        """Identity of the stored value; the same for a list or struct that occurs twice."""
        field = self._site.field
        return id(self._holder), self._index if field is None else field

    def __repr__(self) -> str:
        return f"<Entity {self.path}: {self.type} {self.value!r}>"


def kind_of(named: Named, struct: object, request: object) -> str | None:
    _, _, _, entity, is_of_request, by, kinds, _ = named
    if not by:
        return entity
    code = getattr(request if is_of_request else struct, by, None)
    return kinds.get(code) if isinstance(code, int | str) else None
