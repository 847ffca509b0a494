"""Rules of the settings: what they say must fit the definitions that they lie beside."""

from __future__ import annotations

from collections.abc import Sequence

from packaging.version import Version

from generator.spec.model import HEADER, REQUEST, RESPONSE, Field, Message
from generator.spec.settings import FILE, Settings
from generator.spec.source import Problems

HEADERS = {
    "RequestHeader": {
        "RequestApiKey": "int16",
        "RequestApiVersion": "int16",
        "CorrelationId": "int32",
        "ClientId": "string",
    },
    "ResponseHeader": {"CorrelationId": "int32"},
}
"""The headers that the part ``protocol`` fills and reads, and the fields that it needs of them."""


def check(
    settings: Settings, messages: Sequence[Message], folders: Sequence[str], release: str | None, problems: Problems
) -> None:
    """``folders`` are those of the definitions, ``release`` the one that ``SOURCE`` names."""
    _one_way(settings, messages, problems)
    _headers(settings, messages, problems)
    _parts(settings, messages, problems)
    for topic, folder in settings.logs.items():
        if folder not in folders:
            what = f"the log {topic} has its records in the folder {folder!r}, where no definitions are"
            problems.error(settings.places["logs"], f"{what}; there are {', '.join(sorted(set(folders)))}")
    if settings.version is not None and release is not None:
        own, kafka = Version(settings.version).release, Version(release).release
        if own[: len(kafka)] != kafka:
            what = f"version {settings.version} is not one of the release {release}, which SOURCE names"
            problems.error(settings.places["version"], f"{what}; write {release}.1")


def _one_way(settings: Settings, messages: Sequence[Message], problems: Problems) -> None:
    requests = {message.name: message.api_key for message in messages if message.kind == REQUEST}
    answers = {message.api_key: message.name for message in messages if message.kind == RESPONSE}
    for name in settings.one_way:
        if name not in requests:
            problems.error(settings.places["one-way"], f"one-way names {name}, but no request is called so")
        elif (key := requests[name]) in answers:
            what = f"one-way names {name}, which has the response {answers[key]}"
            problems.error(settings.places["one-way"], f"{what}; take it out")


def _headers(settings: Settings, messages: Sequence[Message], problems: Problems) -> None:
    """Headers of one's own must have what is read and filled; Kafka's come from the generator."""
    for message in messages:
        fields = HEADERS.get(message.name)
        if fields is None or message.kind != HEADER:
            continue
        if settings.headers == "kafka" and message.location.file.rpartition("/")[0] != OF_KAFKA:
            what = f'{message.name} is defined here, but {FILE} says headers = "kafka"'
            problems.error(message.at("name"), f"{what}; take one of the two out")
        own: dict[str, Field] = {member.name: member for member in message.fields}
        for name, kind in fields.items():
            if name not in own or str(own[name].type) != kind:
                what = f"{message.name} needs a field {name} of type {kind}"
                problems.error(message.at("fields"), f"{what}, which every header before a message has")


OF_KAFKA = "generator/headers"
"""How the definitions of Kafka's headers that come with the generator are called in problems."""


def has_headers(messages: Sequence[Message]) -> bool:
    """Whether requests and responses can be put behind headers."""
    return HEADERS.keys() <= {message.name for message in messages}


def _parts(settings: Settings, messages: Sequence[Message], problems: Problems) -> None:
    has_requests = any(message.kind == REQUEST and not message.is_removed for message in messages)
    needed = f"the part protocol needs the messages {' and '.join(HEADERS)}"
    remedy = f'define them, or write headers = "kafka" below [protocol] in {FILE}'
    if "protocol" in (settings.parts or ()):
        if not has_requests:
            problems.error(settings.places["parts"], "the part protocol is for requests, of which there are none")
        elif not has_headers(messages):
            problems.error(settings.places["parts"], f"{needed}; {remedy}")
    elif settings.parts is None and has_requests and not has_headers(messages):
        first = next(message for message in messages if message.kind == REQUEST and not message.is_removed)
        problems.warn(first.at("type"), f"{needed}, and is left out without them; {remedy}")
