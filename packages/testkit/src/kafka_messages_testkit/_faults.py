"""Application of rules to a request and its response."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from copy import deepcopy
from functools import partial
from typing import Any, TypeAlias

from kafka_messages import Response
from kafka_messages.aio import CloseConnection
from kafka_messages.connection import expects_response
from kafka_messages.protocol import encode_response

from ._actions import Change, Corrupt, Delay, Disconnect, Drop, Fail, Hold, Observe, Respond, Throttle
from ._damage import damage_records, damaged_length
from ._exchange import Exchange
from ._partial import merged, without
from ._rule import Rule, Rules
from ._selectors import Received

Broker: TypeAlias = Callable[[Any], Awaitable[Response | None]]
"""Lets the broker act on a request message; returns the response, or None if it sends none."""


async def respond(rules: Rules, exchange: Exchange, received: Received, broker: Broker) -> Response | None:
    """Return the response to a request, after the rules that it matches.

    Raises CloseConnection, with bytes to send before; ValueError for a rule that cannot act on this response; and what
    ``broker`` and functions of the rules raise.
    """
    acting: Rule | None = None
    for rule in rules.affecting(received):
        if not isinstance(rule._action, Observe):
            acting, exchange.outcome = rule, str(rule._action)
        if not (isinstance(rule._action, Corrupt) and rule._action.part != "length"):
            rule._record(exchange)
    response = await (broker(exchange.request) if acting is None else _Fault(acting, exchange, received, broker).act())
    if response is not None:
        exchange.response, exchange.answered_at = response, time.time()
    return response


class _Fault:
    def __init__(self, rule: Rule, exchange: Exchange, received: Received, broker: Broker) -> None:
        self.rule, self.exchange, self.received, self.broker = rule, exchange, received, broker

    async def act(self) -> Response | None:
        action = self.rule._action
        if isinstance(action, Fail):
            return await self.fail(action)
        if isinstance(action, Drop):
            await asyncio.Event().wait()  # until the connection ends
        if isinstance(action, Hold):
            await self.rule._until_released()
        if isinstance(action, Disconnect) and not action.applied:
            raise CloseConnection
        if isinstance(action, Respond):
            made: Response | None = action.function(self.exchange.request)
            if made is not None:
                return self.checked(made, "respond() must return {} or None")
        response = await self.broker(self.exchange.request)
        if isinstance(action, Delay):
            await asyncio.sleep(action.seconds)
        elif isinstance(action, Disconnect):
            self.exchange._whole = whole = frame_of(self.exchange, response)
            raise CloseConnection(whole[: action.after_bytes or 0])
        elif isinstance(action, Throttle) and response is not None:
            throttled: Any = response
            throttled.throttle_time_ms = action.milliseconds
        elif isinstance(action, Corrupt) and response is not None:
            return self.corrupt(action, response)
        elif isinstance(action, Change) and response is not None:
            made = action.function(self.exchange.request, deepcopy(response))  # the broker may keep parts of it
            return self.checked(made, "change() must return {}")
        return response

    async def fail(self, action: Fail) -> Response | None:
        selectors, request = self.rule._selectors, self.exchange.decoded
        failure: Response = selectors.failure(self.received, action.code)
        is_partial = selectors.is_partial(self.received)
        message = request.message
        if is_partial and not action.applied:
            message = without(message, partial(selectors.selects, self.received))
        if not (is_partial or action.applied):
            if not expects_response(request.message):
                raise CloseConnection  # as Kafka does if a Produce request with acks=0 fails
            return failure
        response = await self.broker(message)
        if response is None:
            raise CloseConnection
        is_selected = partial(selectors.is_selected, self.received) if is_partial else lambda place: True
        return merged(response, failure, request.version, is_selected)

    def corrupt(self, action: Corrupt, response: Response) -> Response:
        if action.part == "length":
            self.exchange._whole = whole = frame_of(self.exchange, response)
            raise CloseConnection(damaged_length(whole, action.offset))
        is_selected = partial(self.rule._selectors.selects, self.received)
        if not self.rule._is_used_up and damage_records(response, action, is_selected):
            self.rule._record(self.exchange)
        else:
            self.rule._forget(self.exchange)  # a later response will have records
        return response

    def checked(self, response: Any, expected: str) -> Response:
        wanted = self.exchange.api.response_class
        if not isinstance(response, wanted):
            raise TypeError(f"{expected.format(wanted.__name__)}, not {response!r}")
        return response.downgraded(self.exchange.response_version)


def frame_of(exchange: Exchange, response: Response | None) -> bytes:
    """Return the frame of a response with its length; empty for None."""
    if response is None:
        return b""
    version, number = exchange.response_version, exchange.decoded.header.correlation_id
    return encode_response(response.downgraded(version), version, number, text="surrogateescape")
