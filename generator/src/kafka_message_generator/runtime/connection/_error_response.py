"""Builder of error responses that equal those of Kafka's brokers."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from .._base.message import Message, checked_version
from .._base.message import Request as RequestMessage
from .._core.display import display
from .._core.value import dataclass
from ..protocol import DecodedRequest, UnknownApiError
from ..protocol import api as api_of
from ..schema.descriptors import FieldDescriptor, MessageDescriptor, class_in, descriptor_of
from ._iterators import error_codes
from ._tables import ERROR_RESPONSES
from ._traversal import PARTITIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    from .._base.message import Response
    from ..protocol import Api
    from ._places import ErrorCodePlace
    from ._tables import ErrorResponseRule

    Paths: TypeAlias = tuple[str, str]
    Around: TypeAlias = tuple[tuple[tuple[FieldDescriptor, ...], Any], ...]

# Sets of field names with the same meaning.
_SAME = (
    PARTITIONS,
    frozenset(("name", "topic", "topic_name")),
    frozenset(("name", "user")),
)
_NONE = 0
_CODES = range(-(1 << 15), 1 << 15)


def error_response(
    request: DecodedRequest | RequestMessage,
    code: int,
    message: str | None = None,
    *,
    version: int | None = None,
    where: Callable[[ErrorCodePlace], bool] | None = None,
) -> Response:
    """Return the error response to a request, equal to that of Java's ``getErrorResponse``.

    A request message needs ``version``, a DecodedRequest has one. The code is set in the response's top-level field,
    or without one at each topic, partition, group or resource of the request. If the request names none of these, no
    code is set. ``message`` is set beside each code, if there is a field for it.

    ``where`` selects the error codes to set; all others are NONE. The response then always has an element for each
    topic, partition, group or resource. ``topic_config_error_code`` of CreateTopicsResponse stays NONE.

    Raises UnknownApiError for a request without a response, ValueError for 0 or a code beyond int16,
    UnsupportedVersionError, and TypeError for anything but a request, and for a missing or conflicting ``version``.
    """
    number = _number(code)
    request_message, at = _request(request, version)
    api = api_of(type(request_message))
    if not api.response_name:
        raise UnknownApiError(f"{api.request_name} has no response")
    response = _Answering(request_message, api, at, number, message, where is not None).response()
    if where is not None:
        for place in error_codes(response, version=at):
            if not where(place):
                place._reset()
    return response


def _number(code: object) -> int:
    if not isinstance(code, int) or isinstance(code, bool) or code not in _CODES:
        raise ValueError(f"an error code must be an int16, not {display(code)}")
    if code == _NONE:
        raise ValueError("error code 0 means success; pass the code of an error")
    return int(code)


def _request(request: object, version: int | None) -> tuple[Message, int]:
    if isinstance(request, DecodedRequest):
        if version is not None and version != request.version:
            raise TypeError(f"the request has version {request.version}; omit the argument version")
        return request.message, request.version
    if not isinstance(request, RequestMessage):
        raise TypeError(f"expected a decoded request, or a request message and its version, got {display(request)}")
    if version is None:
        raise TypeError(f"a request message needs its version: error_response({request.NAME}(...), code, version=...)")
    return request, checked_version(type(request), version)


@dataclass(frozen=True, slots=True)
class _Answering:
    message: Message
    api: Api
    version: int
    code: int
    text: str | None
    is_whole: bool

    def response(self) -> Response:
        kind = self.api.response_class
        request, response = descriptor_of(type(self.message)), descriptor_of(kind)
        rows = [row for row in ERROR_RESPONSES if row[0] == kind.NAME]
        # Rules for this version replace rules for other versions.
        exceptions = {row[1]: row for row in rows if self.is_whole and row[4]}
        exceptions |= {row[1]: row for row in rows if row[2] <= self.version <= row[3]}
        filled: Response = _Filling(self, request, response, exceptions, {}).struct(
            ("", ""), response.name, response.fields, request.fields, self.message
        )
        return filled


@dataclass(frozen=True, slots=True)
class _ErrorTemplate:
    kind: Any
    constants: dict[str, Any]
    # Fields copied from the request: name, struct depth (0 is the source), source field, nullable.
    copies: tuple[tuple[str, int, str, bool], ...]
    # Arrays of structs with their paths and request arrays.
    arrays: tuple[tuple[FieldDescriptor, str, tuple[str, ...]], ...]
    request_fields: tuple[FieldDescriptor, ...]
    own: tuple[FieldDescriptor, ...]
    first_names: dict[type, str]


@dataclass(frozen=True, slots=True)
class _Filling:
    answering: _Answering
    request: MessageDescriptor
    response: MessageDescriptor
    exceptions: dict[str, ErrorResponseRule]
    recipes: dict[Paths, _ErrorTemplate]

    def struct(
        self,
        paths: Paths,
        name: str,
        fields: tuple[FieldDescriptor, ...],
        request_fields: tuple[FieldDescriptor, ...],
        source: Any,
        around: Around = (),
    ) -> Any:
        recipe = self.recipes.get(paths)
        if recipe is None:
            recipe = self.recipes[paths] = self.recipe(paths[0], name, fields, request_fields, around)
        values = recipe.constants.copy()
        for own, depth, there, may_be_null in recipe.copies:
            named = getattr(around[depth - 1][1] if depth else source, there)
            if named is not None or may_be_null:  # a null name may accompany an id
                values[own] = named
        for field, place, sources in recipe.arrays:
            values[field.name] = list(self.elements((place, paths[1]), field, recipe.request_fields, source, sources))
        if recipe.own and source is not None:
            first = recipe.first_names.get(type(source))
            if first is None:
                first = recipe.first_names[type(source)] = _first_name(recipe.own, source)
            values[first] = source
        return recipe.kind(**values)

    def recipe(
        self,
        path: str,
        name: str,
        fields: tuple[FieldDescriptor, ...],
        request_fields: tuple[FieldDescriptor, ...],
        around: Around,
    ) -> _ErrorTemplate:
        version = self.answering.version
        here = tuple(field for field in fields if version in field.versions)
        has_code = any(field.is_error_code for field in here)
        request_fields = tuple(field for field in request_fields if version in field.versions)
        structs = (request_fields, *(each for each, _ in around))
        constants: dict[str, Any] = {}
        copies: list[tuple[str, int, str, bool]] = []
        arrays: list[tuple[FieldDescriptor, str, tuple[str, ...]]] = []
        for field in here:
            place = _joined(path, field.name)
            exception = self.exceptions.get(place)
            if exception is not None and exception[4] is None:
                constants[field.name] = exception[5]
            elif field.is_error_code:
                constants[field.name] = self.answering.code
            elif field.name == "error_message":
                constants[field.name] = self.message(field)
            elif field.is_array and field.is_struct:
                if sources := (
                    exception[4] if exception is not None else self.counterpart(field, request_fields, has_code)
                ):
                    arrays.append((field, place, sources))
            elif exception is not None and exception[4]:
                copies.append((field.name, 0, exception[4][0], True))
            elif path and (same := _named_alike(field, structs)) is not None:
                copies.append((field.name, *same, version in field.nullable))
        kind: Any = class_in(self.answering.api.response_class, name)
        own = here if path and not request_fields else ()
        return _ErrorTemplate(kind, constants, tuple(copies), tuple(arrays), request_fields, own, {})

    def message(self, field: FieldDescriptor) -> str | None:
        text = self.answering.text
        return "" if text is None and self.answering.version not in field.nullable else text

    def counterpart(
        self, field: FieldDescriptor, request_fields: tuple[FieldDescriptor, ...], has_code: bool
    ) -> tuple[str, ...]:
        if (has_code and not self.answering.is_whole) or not self.has_code(self.response.structs[field.type]):
            return ()
        arrays = [each.name for each in request_fields if each.is_array]
        own = (field.name, "topics") if self.answering.is_whole else (field.name,)
        found = [name for name in own if name in arrays][:1] or arrays
        return tuple(found) if len(found) == 1 else ()

    def has_code(self, fields: tuple[FieldDescriptor, ...]) -> bool:
        version = self.answering.version
        return any(
            version in field.versions
            and (field.is_error_code or self.has_code(self.response.structs.get(field.type, ())))
            for field in fields
        )

    def elements(
        self,
        paths: Paths,
        field: FieldDescriptor,
        request_fields: tuple[FieldDescriptor, ...],
        source: Any,
        sources: tuple[str, ...],
    ) -> Iterator[Any]:
        seen: set[str] = set()
        place, above = paths
        for path in sources:
            names = path.removeprefix(f"{above}.").split(".")
            below = (place, _joined(above, ".".join(names)))
            for inner, each, around in self.within(source, names, request_fields):
                made = self.struct(below, field.type, self.response.structs[field.type], inner, each, around)
                if len(sources) > 1:
                    words = repr(made)  # structs are unhashable, and pairwise comparison takes minutes
                    if words in seen:
                        continue
                    seen.add(words)
                yield made

    def within(
        self, source: Any, names: list[str], request_fields: tuple[FieldDescriptor, ...], around: Around = ()
    ) -> Iterator[tuple[tuple[FieldDescriptor, ...], Any, Around]]:
        field = next((each for each in request_fields if each.name == names[0]), None)
        if field is None:
            return
        inner = self.request.structs.get(field.type, ())
        for each in getattr(source, field.name) or ():
            if len(names) == 1:
                yield inner, each, around
            else:
                yield from self.within(each, names[1:], inner, ((inner, each), *around))


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _named_alike(field: FieldDescriptor, structs: tuple[tuple[FieldDescriptor, ...], ...]) -> tuple[int, str] | None:
    if field.is_array or field.is_struct or not (_is_name(field) or field.type == "int8"):
        return None
    alike = (
        (depth, each.name)
        for depth, candidates in enumerate(structs)
        for each in candidates
        if not each.is_array and each.type == field.type and _same(each.name, field.name)
    )
    return next(alike, None)


def _is_name(field: FieldDescriptor) -> bool:
    by_type = field.type in ("string", "uuid") or field.map_key or field.entity_type is not None
    return by_type or any(field.name in names for names in _SAME)


def _same(one: str, other: str) -> bool:
    return one == other or any(one in names and other in names for names in _SAME)


def _first_name(fields: tuple[FieldDescriptor, ...], value: Any) -> str:
    wanted = {int: ("int32", "int64"), str: ("string",)}.get(type(value), ("uuid",))
    return next(
        field.name
        for field in fields
        if field.type in wanted and not field.is_array and _is_name(field) and field.name != "error_message"
    )
