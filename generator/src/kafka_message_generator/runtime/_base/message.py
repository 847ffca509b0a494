"""Base classes of messages, requests and responses."""

from __future__ import annotations

import sys
from collections.abc import Callable
from operator import index

from .._core.display import display
from .._core.generic import Generic
from .._core.native import implementation, install
from .._core.structs import StructBase, as_derived, no_message_class, owner_of
from .._core.wire import NO_UTF8, READ_FAILURES, WRITE_FAILURES, as_bytes, as_view, in_chunks
from ..errors import DecodeError, EncodeError, UnsupportedVersionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar, Literal, Self, TypeAlias

    from typing_extensions import TypeVar  # installed with type checkers

    from .._core.wire import BytesLike
    from ..schema.downgrade import UnsupportedField
    from ..schema.schema import Schema

    Text: TypeAlias = Literal["strict", "surrogateescape"]
    Codec = tuple[Callable[[bytes, int], tuple[Any, int]], Callable[[list[bytes], Any], None]]
    M = TypeVar("M", bound="Message")
    T = TypeVar("T")
    R_co = TypeVar("R_co", bound="Response", covariant=True, default="Response")
else:
    R_co = None

# True if the Python readers get only what the core declines; they search for an error first.
IS_NATIVE = implementation() == "native"
# Without the core, larger data of servers is searched for errors before reading: many new values block other threads.
LARGE = 1 << 20
_PACKAGE = __name__.rsplit(".", 2)[0]


class Message(StructBase):
    """Base of all messages. One class reads and writes every version."""

    __slots__ = ()

    NAME: ClassVar[str] = ""
    API_KEY: ClassVar[int | None] = None
    """API key of requests and responses, type of records, or None."""
    LOWEST_SUPPORTED_VERSION: ClassVar[int] = 0
    HIGHEST_SUPPORTED_VERSION: ClassVar[int] = -1
    LOWEST_FLEXIBLE_VERSION: ClassVar[int] = 32768
    """First version with tagged fields and compact lengths (KIP-482), or 32768."""
    _codecs: ClassVar[dict[int, Codec]] = {}
    _losses: ClassVar[dict[int, Callable[[Any], tuple[UnsupportedField, ...]]]] = {}
    _fits: ClassVar[dict[int, Callable[[Any], Any]]] = {}
    _descriptor: ClassVar[str] = ""
    _plan: ClassVar[str]

    @classmethod
    def read(cls, data: BytesLike, version: int, *, text: Text = "strict") -> Self:
        """Decode ``data``, which must be exactly one message at ``version``, without a header.

        Bytearrays and memoryviews are copied. Fields that the version lacks get their defaults.
        ``text="surrogateescape"`` keeps invalid UTF-8 as surrogates (PEP 383), which ``write`` restores.

        Raises DecodeError with field and offset, also for trailing bytes; UnsupportedVersionError; and TypeError if
        ``data`` is not bytes-like.
        """
        if text != "strict":
            return _read_escaped(cls, data, 0, version, text, True)[0]
        codec = cls._codecs.get(version) if type(version) is int else _codec_at(cls, version)
        if codec is None:
            raise unsupported(cls, version)
        if type(data) is not bytes:
            data = as_bytes(data)
        if IS_NATIVE and getattr(cls, "_native", None):
            find_end(cls, data, 0, version, True)
        refused = None
        try:
            message, end = codec[0](data, 0)
        except READ_FAILURES as error:
            refused = error.with_traceback(None)  # its frames keep the values read so far
        else:
            if end == len(data):
                return message if type(message) is cls else as_derived(cls, message)
            del message  # before the search
        raise _decode_error(cls, data, 0, version, True, refused)

    @classmethod
    def read_from(cls, data: BytesLike, offset: int, version: int, *, text: Text = "strict") -> tuple[Self, int]:
        """Decode the message that starts at ``offset``. Return the message and the offset of its end.

        ``text`` is as for ``read``.

        Raises DecodeError with field and offset, UnsupportedVersionError, ValueError for an offset outside ``data``,
        and TypeError.
        """
        if text != "strict":
            return _read_escaped(cls, data, offset, version, text, False)
        codec = cls._codecs.get(version) if type(version) is int else _codec_at(cls, version)
        if codec is None:
            raise unsupported(cls, version)
        if type(data) is not bytes:
            return _read_inside(cls, data, offset, version, text)
        _check_offset(offset, data)
        if IS_NATIVE and getattr(cls, "_native", None):
            find_end(cls, data, offset, version, False)
        refused = None
        try:
            message, end = codec[0](data, offset)
        except READ_FAILURES as error:
            refused = error.with_traceback(None)
        else:
            if end <= len(data):
                return message if type(message) is cls else as_derived(cls, message), end
            del message
        raise _decode_error(cls, data, offset, version, False, refused)

    def write(self, version: int, *, text: Text = "strict") -> bytes:
        """Encode this message at ``version``. ``text`` is as for ``read``.

        Raises UnsupportedVersionError, and EncodeError for values of the wrong type or range, nulls that the version
        does not allow, and set fields that the version lacks, unless they are ignorable.
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
        """Return the bytes of ``write`` as a list for ``writelines``, without copying long fields."""
        if text != "strict":
            check_text(text)
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
        """Return the number of bytes that ``write`` returns."""
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
        """Return the values of this message that ``version`` cannot carry: set fields, nulls and unknown tagged fields.

        Each result has its path, and whether ``write`` refuses or drops the value. Raises UnsupportedVersionError, and
        EncodeError if a struct or list in the message has the wrong type.
        """
        losses = self._losses.get(version) if type(version) is int else None
        return (losses or _losses_at(type(self), version))(self)

    def downgraded(self, version: int) -> Self:
        """Return a copy in which the ``unsupported_fields`` of ``version`` have their defaults.

        Structs and lists are copied; other values are shared, and not checked. Raises as ``unsupported_fields`` does.
        """
        fit = self._fits.get(version) if type(version) is int else None
        copy: Self = (fit or _fit_at(type(self), version))(self)
        return copy

    @classmethod
    def schemas(cls) -> dict[int, Schema]:
        """Return the schema of each valid version; see the module ``schema``."""
        from ..schema.build import schemas_of

        return schemas_of(cls)


install(Message)


class Response(Message):
    """Base of all responses."""

    __slots__ = ()


class _ResponseClass:
    # Imports the response class and replaces itself on first access.

    def __get__(self, request: object, owner: type[Request[R_co]]) -> type[R_co]:
        if not owner._response:
            raise AttributeError(f"{owner.__name__} has no response")
        answer: Any = class_of(owner._response)
        owner.response_class = answer
        found: type[R_co] = answer
        return found


class Request(Message, Generic[R_co]):
    """Base of all requests. ``Request[MetadataResponse]`` is the type of requests with this response.

    Annotate generic functions with ``Request[R]``, where ``R`` is a TypeVar with the bound ``Response``.
    """

    __slots__ = ()
    _response: ClassVar[str] = ""
    response_class = _ResponseClass()
    """Response class, imported on first access. Raises AttributeError if the request has no response."""


MessageClass: TypeAlias = type[Message]


def class_of(name: str) -> type[Message]:
    """Return a message class by name. Raises AttributeError for an unknown name."""
    message: type[Message] = getattr(sys.modules[_PACKAGE], name)
    return message


def check_class(value: object) -> None:
    if not isinstance(value, type) or not issubclass(value, Message):
        raise no_message_class(value)


def checked_message(value: M) -> M:
    if not isinstance(value, Message):
        raise TypeError(f"expected a message, got {display(value)}")
    return value


def checked_version(message: type[Message], version: int) -> int:
    """Return a version as a plain ``int``. Raises UnsupportedVersionError, also for bools and other types."""
    is_integer = hasattr(version, "__index__") and not isinstance(version, bool)
    if not is_integer or (found := index(version)) not in message._codecs:
        raise unsupported(message, version)
    return found


def _codec_at(message: type[Message], version: int) -> Codec:
    return message._codecs[checked_version(message, version)]


def _losses_at(cls: type[Message], version: int) -> Callable[[Any], tuple[UnsupportedField, ...]]:
    from ..schema.downgrade import losses_at

    return _compiled_at(cls, version, "_losses", losses_at)


def _fit_at(cls: type[Message], version: int) -> Callable[[Any], Any]:
    from ..schema.downgrade import fit_at

    return _compiled_at(cls, version, "_fits", fit_at)


def _compiled_at(cls: type[Message], version: int, name: str, compiled: Callable[[type[Message], int], T]) -> T:
    version = checked_version(cls, version)
    owner: Any = owner_of(cls)
    if name not in vars(owner):
        setattr(owner, name, {})
    kept: dict[int, T] = vars(owner)[name]
    if version not in kept:
        kept[version] = compiled(cls, version)
    return kept[version]


def unsupported(message: type[Message], version: int) -> UnsupportedVersionError:
    lowest, highest = message.LOWEST_SUPPORTED_VERSION, message.HIGHEST_SUPPORTED_VERSION
    known = f"version {lowest}" if lowest == highest else f"versions {lowest} to {highest}"
    return UnsupportedVersionError(f"{message.NAME} has no version {display(version)}, only {known}")


def _read_escaped(
    message: type[M], data: BytesLike, offset: int, version: int, text: str, is_whole: bool
) -> tuple[M, int]:
    # Strict first: invalid text is rare.
    check_text(text)
    if type(data) is not bytes and not is_whole:
        return _read_inside(message, data, offset, version, text)
    data = as_bytes(data)
    if not reads_strictly(text, data):
        find_end(message, data, offset, version, is_whole, text)
    try:
        return (message.read(data, version), len(data)) if is_whole else message.read_from(data, offset, version)
    except DecodeError as error:
        if is_final(error, text):
            raise
        from ..schema.escaped import read_escaped

        find_end(message, data, offset, version, is_whole, text)
        return read_escaped(message, data, offset, version)


def _read_inside(message: type[M], data: BytesLike, offset: int, version: int, text: Any) -> tuple[M, int]:
    # Copy only the message, not the rest of the buffer.
    with as_view(data) as whole, memoryview(whole if whole.c_contiguous else bytes(whole)).cast("B") as view:
        _check_offset(offset, view)
        end = find_end(message, view, offset, version, False, text)
        options = {} if text == "strict" else {"text": text}  # the core takes no `text`
        return message.read(bytes(view[offset:end]), version, **options), end


def _check_offset(offset: int, data: BytesLike) -> None:
    if not 0 <= offset <= len(data):
        raise ValueError(f"offset {display(offset)} is outside the {len(data)} bytes of data")


def _write_escaped(message: Message, version: int, text: str) -> bytes:
    check_text(text)
    try:
        return message.write(version)
    except EncodeError:
        from ..schema.escaped import write_escaped

        return write_escaped(message, version)


def check_text(text: str) -> None:
    if text != "surrogateescape":
        raise ValueError(f"text must be 'strict' or 'surrogateescape', not {display(text)}")


def reads_strictly(text: str, data: bytes) -> bool:
    """Return whether ``data`` is read as strict first, because invalid text is rare."""
    return text == "surrogateescape" and (IS_NATIVE or len(data) < LARGE)


def is_final(error: DecodeError, text: str) -> bool:
    """Return whether an error of strict reading is also one with ``text``."""
    return text == "strict" or not error.reason.startswith(NO_UTF8)


def find_end(message: type[Message], data: Any, offset: int, version: int, is_whole: bool, text: str = "strict") -> int:
    """Return the offset after a message without keeping its values. Raises DecodeError."""
    from ..schema.build import schemas_of
    from ..schema.escaped import escaped_schemas
    from ..schema.types import SchemaError

    schemas = schemas_of if text == "strict" else escaped_schemas
    try:
        end = schemas(message)[version].skip(data, offset)
    except SchemaError as error:
        raise DecodeError(error.reason, message.NAME, version, error.place, error.offset) from None
    if is_whole and end != len(data):
        raise DecodeError(
            f"{len(data) - end} byte(s) left after the message, at offset {end}", message.NAME, version, "", end
        )
    return end


def _decode_error(
    message: type[Message], data: bytes, offset: int, version: int, is_whole: bool, error: Exception | None
) -> Exception:
    find_end(message, data, offset, version, is_whole)
    reason = "malformed in a way the schema codec accepts; please report this"
    return error if isinstance(error, MemoryError) else DecodeError(reason, message.NAME, version)


def _encode_error(message: Message, version: int, error: Exception) -> Exception:
    from ..schema.error_location import explain_write

    return explain_write(message, version, error)
