"""Builder of the ApiVersionsResponse that announces a broker's APIs and features."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from .._base.message import Message, class_of
from .._core.display import display
from .._core.optional import optional
from ..protocol import Api, UnknownApiError, Versions, apis
from ..protocol import api as api_of
from ..protocol._apis import key_of
from ._rules import API_VERSIONS, PRODUCE, several

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    from _typeshed import SupportsItems

    from ..protocol._apis import AnyApi
    from ._tables import ApiVersionsResponse

    K = TypeVar("K")

_TELEMETRY = ("GetTelemetrySubscriptions", "PushTelemetry")
_NO_VERSIONS: Mapping[AnyApi, Versions] = {}
_NO_FEATURES: Mapping[str, Versions] = {}


def announce(
    apis: Iterable[AnyApi] | None = None,
    *,
    versions: SupportsItems[AnyApi, Versions] = _NO_VERSIONS,
    release: str | None = None,
    only_present: bool = False,
    listener: str | None = None,
    allow_unstable: bool = False,
    has_telemetry: bool = False,
    supported_features: Mapping[str, Versions] = _NO_FEATURES,
    finalized_features: Mapping[str, Versions] = _NO_FEATURES,
    finalized_features_epoch: int = -1,
    zk_migration_ready: bool = False,
) -> ApiVersionsResponse:
    """Return the ApiVersionsResponse of a broker that implements ``apis``.

    ApiVersions is always included. ``apis`` defaults to all APIs of ``listener``: ``broker`` (the default),
    ``controller``, or ``zkBroker`` (the default for releases with ZooKeeper). ``has_telemetry`` adds client telemetry.

    Each API has its stable versions. ``versions`` overrides single APIs; ``allow_unstable`` adds an unstable version.
    Produce starts at version 0, as in Kafka: otherwise librdkafka up to 2.5.3 disables compression (KAFKA-18659).

    ``release``, such as ``2.8``, uses the APIs and versions of that Kafka release; it needs the component ``history``.
    ``only_present`` skips APIs without versions in the release or package, instead of raising.

    Features map to levels: ``{"transaction.version": Versions(0, 2)}``. Clients read ``finalized_features`` only if
    ``finalized_features_epoch`` is not -1.

    Raises UnknownApiError for an API that is unknown or has no versions. Raises ValueError for an unknown listener or
    release, an invalid range, or ``allow_unstable`` with ``release``; TypeError for a range that is not ``Versions``.
    """
    if release is not None and allow_unstable:
        raise ValueError("allow_unstable cannot be combined with release: releases announce only stable versions")
    source = _PackageVersions(allow_unstable) if release is None else _ReleaseVersions(release)
    kind: Any = _response_class()
    named = None if apis is None else [api_of(API_VERSIONS), *several(apis, "apis")]
    served = _all(source, listener, has_telemetry) if named is None or listener is not None else []
    if named is not None and only_present:
        named = [each for each in named if source.versions(each)]
    chosen = {int(api.key): api for api in (served if named is None else named)}
    given = {key_of(each): theirs for each, theirs in _ranges("versions", versions)}
    ranges = {key: given[key] if key in given else _versions(api, source) for key, api in chosen.items()}
    made: ApiVersionsResponse = kind(
        api_keys=[
            kind.ApiVersion(api_key=key, min_version=ours.lowest, max_version=ours.highest)
            for key, ours in sorted(ranges.items())
        ],
        supported_features=[
            kind.SupportedFeatureKey(name=name, min_version=levels.lowest, max_version=levels.highest)
            for name, levels in _ranges("supported_features", supported_features)
        ],
        finalized_features=[
            kind.FinalizedFeatureKey(name=name, min_version_level=levels.lowest, max_version_level=levels.highest)
            for name, levels in _ranges("finalized_features", finalized_features)
        ],
        finalized_features_epoch=finalized_features_epoch,
        zk_migration_ready=zk_migration_ready,
    )
    return made


def limit_versions(response: Any) -> bool:
    """Remove the versions that this package cannot decode from an ApiVersionsResponse, for a proxy.

    Return True if the response was changed.
    """
    readable = {int(api.key): api.valid_versions for api in apis()}
    before = [(each.api_key, each.min_version, each.max_version) for each in response.api_keys]
    for each in list(response.api_keys):
        ours = readable.get(each.api_key)
        if ours is not None:
            each.min_version = max(each.min_version, ours.lowest)
            each.max_version = min(each.max_version, ours.highest)
        if ours is None or each.min_version > each.max_version:
            response.api_keys.remove(each)
    return before != [(each.api_key, each.min_version, each.max_version) for each in response.api_keys]


def _ranges(argument: str, given: SupportsItems[K, Versions]) -> list[tuple[K, Versions]]:
    if not isinstance(given, Mapping):
        raise TypeError(f"{argument} must be a mapping to Versions, not {display(given)}")
    for name, theirs in given.items():
        if not isinstance(theirs, Versions):
            raise TypeError(f"{argument}[{display(name)}] must be Versions(lowest, highest), not {display(theirs)}")
        if not 0 <= theirs.lowest <= theirs.highest:
            raise ValueError(f"{argument}[{display(name)}] is {display(theirs)}; expected 0 <= lowest <= highest")
    return list(given.items())


class _PackageVersions:
    def __init__(self, allow_unstable: bool) -> None:
        self._allow_unstable = allow_unstable

    def versions(self, api: Api) -> Versions:
        return api.supported_versions if self._allow_unstable else api.stable_versions

    def listeners(self, api: Api) -> tuple[str, ...]:
        return api.listeners if api.stable_versions else ()


class _ReleaseVersions:
    def __init__(self, release: str) -> None:
        self._history = optional("history")
        if self._history is None:
            raise ValueError(
                f"this package was generated without the component history, which is needed for release {release}"
            )
        self._release = self._history.release_of(release)

    def versions(self, api: Api) -> Versions:
        try:
            found: Versions = self._history.versions_in(self._release, api.request_name)
        except ValueError:
            return Versions(0, -1)
        return found

    def listeners(self, api: Api) -> tuple[str, ...]:
        if not self.versions(api):
            return ()
        found: tuple[str, ...] = self._history.listeners_in(self._release, api.request_name)
        return found if self._history.has_listeners(self._release) else (*found, "broker")


def _all(source: _PackageVersions | _ReleaseVersions, listener: str | None, has_telemetry: bool) -> list[Api]:
    listeners = {api: source.listeners(api) for api in apis() if has_telemetry or api.name not in _TELEMETRY}
    known = sorted({each for served in listeners.values() for each in served})
    if listener is None:
        listener = "zkBroker" if "zkBroker" in known else "broker"
    if listener not in known:
        raise ValueError(f"listener must be {' or '.join(map(repr, known))}, not {listener!r}")
    return [api for api, served in listeners.items() if listener in served]


def _versions(api: Api, source: _PackageVersions | _ReleaseVersions) -> Versions:
    ours = source.versions(api)
    if not ours:
        raise UnknownApiError(f"{api} has no version to announce; skip it with only_present=True")
    return Versions(0, ours.highest) if api.name == PRODUCE else ours


def _response_class() -> type[Message]:
    try:
        return class_of("ApiVersionsResponse")
    except AttributeError:
        raise UnknownApiError("this package has no ApiVersionsResponse") from None
