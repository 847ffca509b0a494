"""Rules: which requests are affected, how often, and how."""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any, Generic, ParamSpec, TypeAlias, TypeVar

from kafka_messages import Request, Response
from kafka_messages.protocol import ErrorCode
from kafka_messages.schema import descriptor_of

from ._actions import Action, Change, Corrupt, Delay, Disconnect, Drop, Fail, Hold, Observe, Part, Respond, Throttle
from ._codes import warn_of_code
from ._exchange import Exchange
from ._loop import INTERVAL
from ._selectors import Received, Selectors

P = ParamSpec("P")
R = TypeVar("R", bound=Request[Any])
Log: TypeAlias = Callable[[], list[Exchange]]
_WIDTH = 4
PARTS = ("records", "length", "checksum")


class UnusedRuleError(AssertionError):
    """A rule that is not ``optional`` affected no request."""


@dataclass(frozen=True, slots=True)
class Frequency:
    """Which of the matching requests are affected: from the ``nth`` on, each ``every``-th, at most ``times``."""

    nth: int = 1
    times: int | None = 1
    every: int = 1
    probability: float = 1.0

    def __post_init__(self) -> None:
        for name in ("nth", "every", "times"):
            value = getattr(self, name)
            if not (value is None and name == "times") and (type(value) is not int or value < 1):
                raise ValueError(f"{name} must be a number from 1 on, not {value!r}")
        if not 0 < self.probability <= 1:
            raise ValueError(f"probability must be above 0 and at most 1, not {self.probability!r}")


class Rule:
    """A rule and the exchanges it affected. Thread-safe."""

    def __init__(self, selectors: Selectors, frequency: Frequency, action: Action, optional: bool, log: Log) -> None:
        self._selectors = selectors
        self._frequency = frequency
        self._action = action
        self._is_optional = optional or isinstance(action, Observe)
        self._matches = 0
        self._exchanges = log
        self.call_count = 0
        """Number of affected requests."""
        self._last: Exchange | None = None
        self._changed = threading.Condition()
        self._is_released = self._is_removed = False

    @property
    def called(self) -> bool:
        return self.call_count > 0

    @property
    def calls(self) -> list[Exchange]:
        """Affected exchanges that are recorded, oldest first."""
        return [each for each in self._exchanges() if self in each._rules]

    def wait(self, timeout: float = 10) -> Exchange:
        """Wait until the rule has affected a request since the last ``clear()``, and return the last exchange.

        ``timeout`` is in seconds. Raises TimeoutError.
        """
        with self._changed:
            if not (last := self._changed.wait_for(lambda: self._last, timeout)):
                raise TimeoutError(f"{self} affected no request within {timeout:g} s")
            return last

    async def wait_async(self, timeout: float = 10) -> Exchange:
        """Like ``wait``, in a coroutine."""
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                while (last := self._last) is None:
                    await asyncio.sleep(INTERVAL)
                return last
        raise TimeoutError(f"{self} affected no request within {timeout:g} s")

    def release(self) -> None:
        """Let held requests, and all later ones, continue. Raises TypeError for rules without ``hold``."""
        if not isinstance(self._action, Hold):
            raise TypeError(f"{self} holds no requests")
        self._is_released = True

    def remove(self) -> None:
        """Stop affecting requests. A removed rule is never unused; held requests continue."""
        self._is_removed = self._is_released = True

    async def _until_released(self) -> None:
        while not self._is_released:
            await asyncio.sleep(INTERVAL)

    def _record(self, exchange: Exchange) -> None:
        """Count a request that this rule affects."""
        with self._changed:
            self.call_count, self._last = self.call_count + 1, exchange
            exchange._rules += (self,)
            self._changed.notify_all()

    def _forget(self, exchange: Exchange) -> None:
        """Do not count a request that could not be affected."""
        self._matches -= 1
        exchange.outcome = ""

    @property
    def _is_used_up(self) -> bool:
        return self._frequency.times is not None and self.call_count >= self._frequency.times

    def __repr__(self) -> str:
        seen = f" of {self._matches} matching" if self._matches > self.call_count else ""
        return f"<Rule {_on(self._selectors, self._frequency)}: {self._action}, {self.call_count}{seen} requests>"


def _on(selectors: Selectors, frequency: Frequency) -> str:
    """Return the call of ``on``, without defaults."""
    chosen = (f"{name}={value!r}" for name in Selectors.__slots__ if (value := getattr(selectors, name)) is not None)
    given = (
        f"{name}={value!r}"
        for name in Frequency.__slots__
        if (value := getattr(frequency, name)) != getattr(Frequency(), name)
    )
    return f"on({', '.join((selectors.message.__name__, *list(chosen)[1:], *given))})"


def _action(method: Callable[P, Rule]) -> Callable[P, Rule]:
    """Note that a trigger has an action, also if its arguments are refused."""

    @wraps(method)
    def noting(*args: P.args, **kwargs: P.kwargs) -> Rule:
        __tracebackhide__ = True  # in reports of pytest
        trigger: Any = args[0]
        trigger._rules.without_action.pop(id(trigger), None)
        return method(*args, **kwargs)

    return noting


class Trigger(Generic[R]):
    """The requests that a rule affects; one action makes it a rule."""

    def __init__(self, rules: Rules, selectors: Selectors, frequency: Frequency, optional: bool) -> None:
        self._rules, self._selectors, self._frequency = rules, selectors, frequency
        self._add = partial(rules.add, selectors, frequency, optional)
        rules.without_action[id(self)] = self

    @_action
    def fail(self, code: int, applied: bool = False) -> Rule:
        """Answer with an error code; with ``applied`` after the broker has acted.

        The code is set in each element that the selectors match; without such selectors at top level, or, if the
        response has no code there, in each element. Raises ValueError for a response without error codes. For an API of
        the cluster, a code that Kafka never returns there gives a UserWarning.
        """
        if not _has(self._selectors, lambda field: field.is_error_code):
            raise ValueError(f"{self._response} has no error code; use respond() or disconnect()")
        if type(code) not in (int, ErrorCode) or not -(1 << 15) <= code < 1 << 15:
            raise ValueError(f"code must be an int16, such as ErrorCode.NOT_COORDINATOR, not {code!r}")
        if code == ErrorCode.NONE:
            raise ValueError("error code 0 means success; pass the code of an error")
        warn_of_code(self._selectors.api.name, ErrorCode(code), stacklevel=3)
        return self._add(Fail(ErrorCode(code), applied))

    @_action
    def delay(self, seconds: float) -> Rule:
        """Answer ``seconds`` later."""
        if type(seconds) not in (int, float) or not seconds >= 0:
            raise ValueError(f"seconds must be 0 or more, not {seconds!r}")
        return self._add(Delay(seconds))

    @_action
    def throttle(self, milliseconds: int) -> Rule:
        """Set the throttle time of the response. Raises ValueError for a response without one."""
        if not _has(self._selectors, lambda field: field.name == "throttle_time_ms"):
            raise ValueError(f"{self._response} has no throttle time; use delay()")
        if type(milliseconds) is not int or not 0 <= milliseconds < 1 << 31:
            raise ValueError(f"milliseconds must be an int32 from 0 on, not {milliseconds!r}")
        return self._add(Throttle(milliseconds))

    @_action
    def disconnect(self, applied: bool = False, after_bytes: int | None = None) -> Rule:
        """Close the connection instead of answering.

        With ``applied`` the broker acts first; ``after_bytes`` sends so many bytes of its response, and implies it.
        """
        if after_bytes is not None and (type(after_bytes) is not int or after_bytes < 0):
            raise ValueError(f"after_bytes must be a number from 0 on, not {after_bytes!r}")
        return self._add(Disconnect(applied or after_bytes is not None, after_bytes))

    @_action
    def drop(self) -> Rule:
        """Never answer; the broker does not get the request."""
        return self._add(Drop())

    @_action
    def hold(self) -> Rule:
        """Keep the request from the broker until ``Rule.release``."""
        return self._add(Hold())

    @_action
    def corrupt(self, part: Part = "records", offset: int | None = None) -> Rule:
        """Damage the response: a byte of its record batches, the frame length, or the checksum of a batch.

        ``offset`` is the place of the damaged byte in ``part``, by default its middle.
        """
        if part not in PARTS:
            raise ValueError(f"part must be one of {', '.join(PARTS)}, not {part!r}")
        if part != "length" and not _has(self._selectors, lambda field: field.type == "records"):
            raise ValueError(f"{self._response} has no records; pass part='length'")
        if offset is not None and (type(offset) is not int or offset < 0):
            raise ValueError(f"offset must be a number from 0 on, not {offset!r}")
        if part != "records" and offset is not None and offset >= _WIDTH:
            raise ValueError(f"a {'frame length' if part == 'length' else part} has 4 bytes; there is no byte {offset}")
        return self._add(Corrupt(part, offset))

    @_action
    def respond(self, function: Callable[[R], Response | None]) -> Rule:
        """Answer with the response that ``function`` returns for the request; None lets the broker answer."""
        if not callable(function):
            raise TypeError(f"expected a function from request to response, not {function!r}")
        return self._add(Respond(function))

    @_action
    def change(self, function: Callable[[R, Any], Response]) -> Rule:
        """Answer with the response that ``function`` returns for the request and the broker's response."""
        if not callable(function):
            raise TypeError(f"expected a function from request and response to response, not {function!r}")
        return self._add(Change(function))

    @_action
    def observe(self) -> Rule:
        """Only count; other rules still act."""
        return self._add(Observe())

    @property
    def _response(self) -> str:
        return self._selectors.api.response_class.__name__


class Rules:
    """The rules of a cluster or proxy, in the order in which they were made. Thread-safe."""

    def __init__(self, seed: int | None = None, exchanges: Log = list) -> None:
        self._rules: list[Rule] = []
        self._exchanges = exchanges
        self.without_action: dict[int, Trigger[Any]] = {}  # by id()
        self._lock = threading.Lock()
        self._random = random.Random(seed)

    def add(self, selectors: Selectors, frequency: Frequency, optional: bool, action: Action) -> Rule:
        rule = Rule(selectors, frequency, action, optional, self._exchanges)
        with self._lock:
            self._rules.append(rule)
        return rule

    def affecting(self, received: Received) -> Iterator[Rule]:
        """Yield the observing rules that match a request, and the first other rule that acts."""
        with self._lock:
            rules, is_taken = list(self._rules), False
        for rule in rules:
            if self._acts(rule, received, is_taken):
                is_taken = is_taken or not isinstance(rule._action, Observe)
                yield rule

    def _acts(self, rule: Rule, received: Received, is_taken: bool) -> bool:
        """Count a match; return whether the rule affects the request, which another may have taken."""
        frequency = rule._frequency
        if rule._is_removed or not rule._selectors.match(received):
            return False
        if isinstance(rule._action, Observe):
            return True
        if rule._is_used_up:
            return False
        rule._matches += 1
        after = rule._matches - frequency.nth
        is_due = after >= 0 and after % frequency.every == 0
        return is_due and not is_taken and self._random.random() < frequency.probability

    def check_used(self) -> None:
        """Raise UnusedRuleError if a rule affected no request."""
        __tracebackhide__ = True  # in reports of pytest
        if self.without_action:
            calls = ", ".join(_on(each._selectors, each._frequency) for each in self.without_action.values())
            raise UnusedRuleError(
                f"without an action: {calls}; call a method of the result, such as fail() or observe()"
            )
        unused = [rule for rule in self._rules if not (rule.called or rule._is_optional or rule._is_removed)]
        if unused:
            raise UnusedRuleError(
                f"unused: {', '.join(map(repr, unused))}; correct the arguments of on(), or pass optional=True"
            )

    def forget(self) -> None:
        """Forget the last exchange of each rule."""
        for rule in self._rules:
            rule._last = None

    def end(self) -> None:
        """Let all held requests continue."""
        for rule in self._rules:
            rule._is_released = True


def _has(selectors: Selectors, is_wanted: Callable[[Any], bool]) -> bool:
    def anywhere(fields: Any) -> bool:
        return any(is_wanted(field) or anywhere(field.fields) for field in fields)

    return bool(selectors.api.response_name) and anywhere(descriptor_of(selectors.api.response_class).fields)
