"""What every message class can do: read and write at a version, on top of its printed functions."""

from __future__ import annotations

import sys
from collections.abc import Callable
from operator import index

from .._core.generic import Generic
from .._core.native import install
from .._core.shown import shown
from .._core.structs import StructBase, as_derived, no_message_class, owner_of
from .._core.wire import READ_FAILURES, WRITE_FAILURES, as_bytes, in_chunks
from ..errors import DecodeError, EncodeError, UnsupportedVersionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar, Literal, Self, TypeAlias

    from typing_extensions import TypeVar  # checkers bring it along

    from .._core.wire import BytesLike
    from ..schema.downgrade import UnsupportedField
    from ..schema.schema import Schema

    Text: TypeAlias = Literal["strict", "surrogateescape"]
    Codec = tuple[Callable[[bytes, int], tuple[Any, int]], Callable[[list[bytes], Any], None]]
    M = TypeVar("M", bound="Message")
    R_co = TypeVar("R_co", bound="Response", covariant=True, default="Response")
else:
    R_co = None

_PACKAGE = __name__.rsplit(".", 2)[0]


class Message(StructBase):
    """A Kafka message. The object has no version: the same class is read and written at every version."""

    __slots__ = ()

    NAME: ClassVar[str] = ""
    """Name of the definition."""
    API_KEY: ClassVar[int | None] = None
    """API key, record type or key version; None where the definition has none."""
    LOWEST_SUPPORTED_VERSION: ClassVar[int] = 0
    HIGHEST_SUPPORTED_VERSION: ClassVar[int] = -1
    LOWEST_FLEXIBLE_VERSION: ClassVar[int] = 32768
    """First version with tagged fields and compact lengths; 32768 where there is none."""
    _codecs: ClassVar[dict[int, Codec]] = {}
    _losses: ClassVar[dict[int, Callable[[Any], tuple[UnsupportedField, ...]]]] = {}
    _fits: ClassVar[dict[int, Callable[[Any], Any]]] = {}
    _descriptor: ClassVar[str] = ""
    _plan: ClassVar[str]

    @classmethod
    def read(cls, data: BytesLike, version: int, *, text: Text = "strict") -> Self:
        """Read a whole message.

        ``data`` is exactly one message body (a bytearray or memoryview is copied once). Fields that ``version`` does
        not have get their defaults. Raises DecodeError with field and offset, also for bytes left over,
        UnsupportedVersionError, and TypeError for data that is not bytes-like. ``text="surrogateescape"`` takes text that
        is no UTF-8, too: each such byte is a surrogate, U+DC80 to U+DCFF (PEP 383), and ``write`` with the same ``text``
        gives the byte again.
        """
        if text != "strict":
            return _read_escaped(cls, data, 0, version, text, True)[0]
        codec = cls._codecs.get(version) if type(version) is int else _codec_at(cls, version)
        if codec is None:
            raise unsupported(cls, version)
        if type(data) is not bytes:
            data = as_bytes(data)
        try:
            message, end = codec[0](data, 0)
        except READ_FAILURES as error:
            raise _decode_error(cls, data, 0, version, True, error) from error
        if end != len(data):
            raise _decode_error(cls, data, 0, version, True)
        result: Self = message if type(message) is cls else as_derived(cls, message)
        return result

    @classmethod
    def read_from(cls, data: BytesLike, offset: int, version: int, *, text: Text = "strict") -> tuple[Self, int]:
        """Read a message that starts at byte ``offset``; returns it and the offset of the byte after it.

        Raises DecodeError with field and offset, UnsupportedVersionError, and TypeError for data that is not bytes-like.
        ``text`` as for ``read``.
        """
        if text != "strict":
            return _read_escaped(cls, data, offset, version, text, False)
        codec = cls._codecs.get(version) if type(version) is int else _codec_at(cls, version)
        if codec is None:
            raise unsupported(cls, version)
        if type(data) is not bytes:
            data = as_bytes(data)
        if not 0 <= offset <= len(data):
            raise ValueError(f"offset {shown(offset)} is outside the {len(data)} bytes of data")
        try:
            message, end = codec[0](data, offset)
        except READ_FAILURES as error:
            raise _decode_error(cls, data, offset, version, False, error) from error
        if end > len(data):
            raise _decode_error(cls, data, offset, version, False)
        result: Self = message if type(message) is cls else as_derived(cls, message)
        return result, end

    def write(self, version: int, *, text: Text = "strict") -> bytes:
        """The bytes of this message at ``version``.

        Raises EncodeError with the field when a value cannot be written (out of range, null where the version has no
        null, set in a version that does not have it), and UnsupportedVersionError. ``text`` as for ``read``.
        """
        if text != "strict":
            return _write_escaped(self, version, text)
        codec = self._codecs.get(version) if type(version) is int else _codec_at(type(self), version)
        if codec is None:
            raise unsupported(type(self), version)
        out: list[bytes] = []
        try:
            codec[1](out, self)
            return b"".join(out)
        except WRITE_FAILURES as error:
            raise _encode_error(self, version, error) from error

    def chunks(self, version: int, *, text: Text = "strict") -> list[bytes]:
        """The bytes of ``write`` in pieces, for ``writelines``; errors as there.

        Long ``bytes`` and ``records`` are pieces of their own and are not copied; what is between them is. Where else
        the pieces begin and end is not promised.
        """
        if text != "strict":
            _check_text(text)
            try:
                return self.chunks(version)
            except EncodeError:
                return [_write_escaped(self, version, text)]
        codec = self._codecs.get(version) if type(version) is int else _codec_at(type(self), version)
        if codec is None:
            raise unsupported(type(self), version)
        out: list[bytes] = []
        try:
            codec[1](out, self)
            return in_chunks(out)
        except WRITE_FAILURES as error:
            raise _encode_error(self, version, error) from error

    def size(self, version: int, *, text: Text = "strict") -> int:
        """Return the number of bytes that ``write`` returns at ``version``; errors as there.

        In pure Python it takes as long as ``write``.
        """
        if text != "strict":
            return len(_write_escaped(self, version, text))
        codec = self._codecs.get(version) if type(version) is int else _codec_at(type(self), version)
        if codec is None:
            raise unsupported(type(self), version)
        out: list[bytes] = []
        try:
            codec[1](out, self)
            return len(b"".join(out))
        except WRITE_FAILURES as error:
            raise _encode_error(self, version, error) from error

    def unsupported_fields(self, version: int) -> tuple[UnsupportedField, ...]:
        """What of this message ``version`` cannot carry: fields that it does not have, nulls, unknown tagged fields.

        Each says where it is, and whether ``write`` refuses it or, for an ignorable field, drops it. Empty where
        nothing is lost. Only fields that ``version`` lacks, wholly or as null, are looked at, so that it costs next to
        nothing at a version that has them all; values that no version has are for ``write`` to find. Raises EncodeError
        for a value on the way to those fields that is no struct or no list, and UnsupportedVersionError.
        """
        losses = self._losses.get(version) if type(version) is int else None
        return (losses or _losses_at(type(self), version))(self)

    def downgraded(self, version: int) -> Self:
        """A copy that can be written at ``version``: what ``unsupported_fields`` names is at its default.

        It is what a reader of that version gets. Values are shared with this message, structs and lists are not. Numbers
        that are out of range stay, and are refused by ``write``. Raises EncodeError for a value that is no struct or no
        list where one has to be, and UnsupportedVersionError.
        """
        fit = self._fits.get(version) if type(version) is int else None
        copy: Self = (fit or _fit_at(type(self), version))(self)
        return copy

    @classmethod
    def schemas(cls) -> dict[int, Schema]:
        """The schema of each version, built from the definition on first use; see ``schema``."""
        from ..schema.build import schemas_of

        return schemas_of(cls)


install(Message)


class Response(Message):
    """A message that answers a request."""

    __slots__ = ()


class _ResponseClass:
    """The class of the response, which stands in the request's class as soon as it was asked for."""

    def __get__(self, request: object, owner: type[Request[R_co]]) -> type[R_co]:
        if not owner._response:
            raise AttributeError(f"{owner.__name__} has no response")
        answer: Any = class_of(owner._response)
        owner.response_class = answer
        found: type[R_co] = answer
        return found


class Request(Message, Generic[R_co]):
    """A message that asks for something; ``Request[MetadataResponse]`` is one that a MetadataResponse answers.

    ``Request`` alone is a request with any response. In functions that take some request and return its response, the
    parameter is ``Request[R]`` for a TypeVar ``R`` with the bound ``Response``.
    """

    __slots__ = ()
    _response: ClassVar[str] = ""
    response_class = _ResponseClass()
    """Class of the response, of a request and of its class alike; imported on first use. AttributeError where a request
    is never answered.
    """


MessageClass: TypeAlias = type[Message]
"""The class of any message: it has versions, and reads and writes them."""


def class_of(name: str) -> type[Message]:
    """The message class with this name; AttributeError if the package has no such message."""
    message: type[Message] = getattr(sys.modules[_PACKAGE], name)
    return message


def check_class(value: object) -> None:
    """Raise TypeError for anything but a message class."""
    if not isinstance(value, type) or not issubclass(value, Message):
        raise no_message_class(value)


def checked_message(value: M) -> M:
    """Return a message. Raises TypeError for anything else, such as a class or None."""
    if not isinstance(value, Message):
        raise TypeError(f"expected a message, got {shown(value)}")
    return value


def checked_version(message: type[Message], version: int) -> int:
    """A version that a message has, as a plain ``int``: what counts as an integer will do, True and 12.0 will not.

    Raises UnsupportedVersionError.
    """
    is_integer = hasattr(version, "__index__") and not isinstance(version, bool)
    if not is_integer or (found := index(version)) not in message._codecs:
        raise unsupported(message, version)
    return found


def _codec_at(message: type[Message], version: int) -> Codec:
    """The codec at a version that is no plain ``int``."""
    return message._codecs[checked_version(message, version)]


def _losses_at(cls: type[Message], version: int) -> Callable[[Any], tuple[UnsupportedField, ...]]:
    """The function behind ``unsupported_fields``, compiled on first use and kept with the printed class."""
    version = checked_version(cls, version)
    if version not in cls._losses:
        from ..schema.downgrade import losses_at

        _kept(cls, "_losses")[version] = losses_at(cls, version)
    return cls._losses[version]


def _fit_at(cls: type[Message], version: int) -> Callable[[Any], Any]:
    """The function behind ``downgraded``, compiled on first use and kept with the printed class."""
    version = checked_version(cls, version)
    if version not in cls._fits:
        from ..schema.downgrade import fit_at

        _kept(cls, "_fits")[version] = fit_at(cls, version)
    return cls._fits[version]


def _kept(cls: type[Message], name: str) -> dict[int, Any]:
    """A table of compiled functions in the printed class that a class is or is derived from."""
    owner: Any = owner_of(cls)
    if name not in vars(owner):
        setattr(owner, name, {})
    found: dict[int, Any] = vars(owner)[name]
    return found


def unsupported(message: type[Message], version: int) -> UnsupportedVersionError:
    """The error for a version that a message does not have."""
    lowest, highest = message.LOWEST_SUPPORTED_VERSION, message.HIGHEST_SUPPORTED_VERSION
    known = f"version {lowest}" if lowest == highest else f"versions {lowest} to {highest}"
    return UnsupportedVersionError(f"{message.NAME} has no version {shown(version)}, only {known}")


def _read_escaped(
    message: type[M], data: BytesLike, offset: int, version: int, text: str, is_whole: bool
) -> tuple[M, int]:
    """Read as always, and where text is in the way again with the other rule for it: it hardly ever is."""
    _check_text(text)
    data = as_bytes(data)
    try:
        return (message.read(data, version), len(data)) if is_whole else message.read_from(data, offset, version)
    except DecodeError as error:
        from ..schema.escaped import is_about_text, read_escaped

        if not is_about_text(error):
            raise
        return read_escaped(message, data, offset, version, is_whole)


def _write_escaped(message: Message, version: int, text: str) -> bytes:
    _check_text(text)
    try:
        return message.write(version)
    except EncodeError:
        from ..schema.escaped import write_escaped

        return write_escaped(message, version)


def _check_text(text: str) -> None:
    if text != "surrogateescape":
        raise ValueError(f"text must be 'strict' or 'surrogateescape', not {shown(text)}")


def _decode_error(
    message: type[Message], data: bytes, offset: int, version: int, is_whole: bool, error: Exception | None = None
) -> Exception:
    from ..schema.explain import explain_read

    return explain_read(message, data, offset, version, is_whole, error)


def _encode_error(message: Message, version: int, error: Exception) -> Exception:
    from ..schema.explain import explain_write

    return explain_write(message, version, error)
