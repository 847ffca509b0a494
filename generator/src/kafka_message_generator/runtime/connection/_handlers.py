"""Registry of request handlers."""

from __future__ import annotations

from collections.abc import Coroutine

from .._base.message import Message, Request, class_of
from .._core.display import class_or_value
from .._core.generic import Generic
from .._core.structs import name_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, Concatenate, TypeVar, overload

    from typing_extensions import ParamSpec  # installed with type checkers

    from .._base.message import Response

    P = ParamSpec("P", default=[])
    Q = TypeVar("Q", bound=Request)
    Q_co = TypeVar("Q_co", bound=Request, covariant=True)
    R = TypeVar("R", bound=Response)
else:
    P = Q_co = None


class Handlers(Generic[P]):
    """Request handlers by class, for mock brokers and proxies.

    ``@handlers.on(MetadataRequest)`` registers a function or coroutine function that returns a MetadataResponse.
    Handlers in ``Handlers[int]()`` take an int after the request. Iteration yields the request classes.
    """

    def __init__(self) -> None:
        self._by_name: dict[str, Callable[..., Any]] = {}

    def on(self, kind: type[Q]) -> HandlerDecorator[Q, P]:
        """Return a decorator that registers the handler of a request class.

        Raises TypeError for other classes. The decorator raises ValueError if the class already has a handler.
        """
        return HandlerDecorator(self._by_name, _request_name(kind))

    def find(self, kind: type[Request[R]]) -> Callable[Concatenate[Request[R], P], R | Coroutine[Any, Any, R]] | None:
        """Return the handler of a request class, or None. Raises TypeError for other classes."""
        return self._by_name.get(_request_name(kind))

    def answer(self, request: Request[R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the handler of a request and return the response.

        Raises LookupError if there is no handler, and TypeError if the handler is a coroutine function.
        """
        found: Any = self._handler(request)(request, *args, **kwargs)
        if isinstance(found, Coroutine):
            found.close()
            raise TypeError(f"the handler of {name_of(type(request))} is a coroutine function; use answer_async")
        response: R = found
        return response

    async def answer_async(self, request: Request[R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Like ``answer``, but also await coroutine functions. Raises LookupError if there is no handler."""
        found: Any = self._handler(request)(request, *args, **kwargs)
        response: R = await found if isinstance(found, Coroutine) else found
        return response

    def _handler(self, request: Request[R]) -> Callable[..., Any]:
        if not isinstance(request, Request):
            raise TypeError(f"expected a request, got {class_or_value(request)}")
        name = name_of(type(request))
        handler = self._by_name.get(name)
        if handler is None:
            raise LookupError(f"no handler is registered for {name}")
        return handler

    def __contains__(self, kind: object) -> bool:
        return isinstance(kind, type) and issubclass(kind, Request) and name_of(kind) in self._by_name

    def __iter__(self) -> Iterator[type[Message]]:
        return map(class_of, self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)

    def __repr__(self) -> str:
        return f"<Handlers of {len(self)} request classes>"


class HandlerDecorator(Generic[Q_co, P]):

    def __init__(self, by_name: dict[str, Callable[..., Any]], name: str) -> None:
        self._by_name = by_name
        self._name = name

    if TYPE_CHECKING:
        # `self` is annotated to tie the response to the request class: Request is covariant in its response.

        @overload
        def __call__(
            self: HandlerDecorator[Request[R], P], handler: Callable[Concatenate[Q_co, P], R]
        ) -> Callable[Concatenate[Q_co, P], R]: ...
        @overload
        def __call__(
            self: HandlerDecorator[Request[R], P], handler: Callable[Concatenate[Q_co, P], Coroutine[Any, Any, R]]
        ) -> Callable[Concatenate[Q_co, P], Coroutine[Any, Any, R]]: ...

    def __call__(self, handler: Any) -> Any:
        if not callable(handler):
            raise TypeError(f"expected a function as the handler of {self._name}, got {class_or_value(handler)}")
        if self._name in self._by_name:
            raise ValueError(f"{self._name} already has a handler")
        self._by_name[self._name] = handler
        return handler


def _request_name(kind: object) -> str:
    if not isinstance(kind, type) or not issubclass(kind, Request) or kind is Request:
        raise TypeError(f"expected a request class, got {class_or_value(kind)}")
    return name_of(kind)
