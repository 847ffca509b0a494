"""Checks of ``package.toml`` against the definitions."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from packaging.version import Version

from kafka_message_generator.rules import headers
from kafka_message_generator.rules.headers import has_headers
from kafka_message_generator.spec.components import COMPONENTS
from kafka_message_generator.spec.model import HEADER, REQUEST, RESPONSE, Message
from kafka_message_generator.spec.settings import FILE, Settings
from kafka_message_generator.spec.source import Problems
from kafka_message_generator.spec.suggestions import did_you_mean, suggestion

HERE = "."  # in ``logs``, the folder of the settings


def check(
    settings: Settings,
    messages: Sequence[Message],
    folders: Collection[str],
    release: str | None,
    problems: Problems,
    unread: Collection[str],
) -> None:
    """Check the settings against the messages, the ``folders`` with definitions, and the ``release`` in ``SOURCE``.

    ``unread`` names messages of unreadable files.
    """
    headers.check(messages, settings.headers == "kafka", problems)
    _one_way(settings, messages, unread, problems)
    if not unread and all(message.kind for message in messages):
        _components(settings, messages, problems)
    _logs(settings, folders, problems)
    _version(settings, release, problems)


def one_way(settings: Settings, messages: Sequence[Message]) -> frozenset[str]:
    """Return the requests in the setting ``one-way``, spelling corrected; all requests if the setting is invalid."""
    requests = [message.name for message in messages if message.kind == REQUEST]
    if "one-way" in settings.invalid_keys:
        return frozenset(requests)
    return frozenset(name if name in requests else suggestion(name, requests) or name for name in settings.one_way)


def _one_way(settings: Settings, messages: Sequence[Message], unread: Collection[str], problems: Problems) -> None:
    requests = {message.name: message.api_key for message in messages if message.kind == REQUEST}
    responses = {message.api_key: message.name for message in messages if message.kind == RESPONSE}
    for name in settings.one_way:
        if name not in requests:
            if name not in unread:
                what = f"one-way lists {name}, which is not a request"
                problems.error(settings.places["one-way"], f"{what}; {did_you_mean(name, requests, 'remove it')}")
        elif (key := requests[name]) in responses:
            what = f"one-way lists {name}, which has the response {responses[key]}"
            problems.error(settings.places["one-way"], f"{what}; remove it")


def _components(settings: Settings, messages: Sequence[Message], problems: Problems) -> None:
    present = [message for message in messages if not message.is_removed]
    for name in settings.components or ():
        kinds = COMPONENTS[name].kinds
        if kinds and not any(message.kind in kinds for message in present):
            what = f"the component {name} requires messages of type {', '.join(sorted(kinds))}, but there are none"
            problems.error(settings.places["components"], f"{what}; remove it")
    if "history" in (settings.components or ()) and not settings.older:
        what = f"the component history requires older releases, and {FILE} lists none"
        problems.error(settings.places["components"], f"{what}; write older = [...] below [definitions], or remove it")
    requests = [message for message in present if message.kind in COMPONENTS["protocol"].kinds]
    if not requests or has_headers(messages) or "headers" in settings.invalid_keys:
        return
    what = f"the component protocol requires the messages {' and '.join(headers.FIELDS)} of type {HEADER}"
    remedy = f'define them, or write headers = "kafka" below [protocol] in {FILE}'
    if settings.components is None:
        problems.warn(requests[0].at("type"), f"{what}, and is omitted without them; {remedy}")
    elif "protocol" in settings.components:
        problems.error(settings.places["components"], f"{what}; {remedy}")


def _logs(settings: Settings, folders: Collection[str], problems: Problems) -> None:
    known = sorted({folder or HERE for folder in folders})
    for topic, folder in settings.logs.items():
        if folder not in known:
            what = f"the log {topic} has records in the folder {folder!r}, which has no definitions"
            problems.error(settings.places["logs"], f"{what}; expected one of {', '.join(known)}")


def _version(settings: Settings, release: str | None, problems: Problems) -> None:
    if settings.version is None or release is None:
        return
    own, kafkas = Version(settings.version).release, Version(release).release
    if own[: len(kafkas)] != kafkas:
        what = f"version {settings.version} does not match the release {release} in SOURCE"
        remedy = f"write for example {'.'.join(map(str, kafkas))}.1"
        problems.error(settings.places["version"], f"{what}; {remedy}")
