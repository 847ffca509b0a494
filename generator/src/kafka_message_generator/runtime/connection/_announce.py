"""What a broker says that it supports: the ApiVersionsResponse as Kafka's own brokers make it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from .._base.message import Message, class_of
from .._core.optional import optional
from .._core.shown import shown
from ..protocol import Api, UnknownApiError, Versions, apis
from ..protocol import api as api_of
from ..protocol._apis import key_of
from ._exchange import API_VERSIONS, PRODUCE, several

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    from ..protocol._apis import AnyApi
    from ._tables import ApiVersionsResponse

    K = TypeVar("K")

_TELEMETRY = ("GetTelemetrySubscriptions", "PushTelemetry")
_NO_VERSIONS: Mapping[AnyApi, Versions] = {}
_NO_FEATURES: Mapping[str, Versions] = {}


def announce(
    apis: Iterable[AnyApi] | None = None,
    *,
    versions: Mapping[AnyApi, Versions] = _NO_VERSIONS,
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
    """The ApiVersionsResponse of a broker that has these APIs, in the versions that this package offers.

    ``apis`` are those that one implements; ApiVersions is always among them, as it is this that asks. Without it they are
    all of a ``listener`` (``broker``, the default, or ``controller``), but those of client telemetry only with
    ``has_telemetry``.
    ``versions`` gives other ranges by API, such as those of an older broker; of APIs that are not announced it says
    nothing. An unstable latest version is announced only with ``allow_unstable``.

    With ``release``, such as ``2.8``, APIs and versions are those that this release of Kafka has; the package needs the
    part ``history`` for that. Its ``listener`` is by default ``zkBroker``, that of a broker with ZooKeeper, up to the last
    release that has one: in 2.8 the other kind of broker was a preview, without transactions and ACLs.

    An API that the release or the package does not have is an error, or left out with ``only_present``, whatever
    ``versions`` says of it.

    Produce is announced from version 0 whatever the package has, as Kafka does: without that librdkafka up to 2.5.3 takes
    a broker for one that cannot decompress, and says nothing (KAFKA-18659). ``versions`` has the last word there too.

    Features are levels by name, such as ``{"transaction.version": Versions(0, 2)}``: ``supported_features`` those that the
    broker can run, ``finalized_features`` those in force. Clients read the latter only if ``finalized_features_epoch`` is
    not -1, so give one from 0 on, too. Raises UnknownApiError for
    an API or a package without versions; ValueError for a listener that no API has, a release that is not known or has
    nothing unstable to allow, and for versions that are none; and TypeError for ranges that are no ``Versions``.
    """
    if release is not None and allow_unstable:
        raise ValueError("allow_unstable is for what this package has; a release announces stable versions only")
    source = _Package(allow_unstable) if release is None else _Release(release)
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


def _ranges(argument: str, given: Mapping[K, Versions]) -> list[tuple[K, Versions]]:
    """The ranges of an argument by what they are of; each has a version."""
    if not isinstance(given, Mapping):
        raise TypeError(f"{argument} must be a mapping to Versions, not {shown(given)}")
    for name, theirs in given.items():
        if not isinstance(theirs, Versions):
            raise TypeError(f"{argument}[{shown(name)}] must be Versions(lowest, highest), not {shown(theirs)}")
        if not 0 <= theirs.lowest <= theirs.highest:
            raise ValueError(f"{argument}[{shown(name)}] is {shown(theirs)}, in which there is no version to announce")
    return list(given.items())


class _Package:
    """What this package offers."""

    def __init__(self, allow_unstable: bool) -> None:
        self._allow_unstable = allow_unstable

    def versions(self, api: Api) -> Versions:
        return api.supported_versions if self._allow_unstable else api.stable_versions

    def listeners(self, api: Api) -> tuple[str, ...]:
        return api.listeners if api.stable_versions else ()


class _Release:
    """What a release of Kafka has."""

    def __init__(self, release: str) -> None:
        self._history = optional("history")
        if self._history is None:
            raise ValueError(f"this package was generated without the part history, and knows nothing of {release}")
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


def _all(source: _Package | _Release, listener: str | None, has_telemetry: bool) -> list[Api]:
    listeners = {api: source.listeners(api) for api in apis() if has_telemetry or api.name not in _TELEMETRY}
    known = sorted({each for served in listeners.values() for each in served})
    if listener is None:
        listener = "zkBroker" if "zkBroker" in known else "broker"
    if listener not in known:
        raise ValueError(f"listener must be {' or '.join(map(repr, known))}, not {listener!r}")
    return [api for api, served in listeners.items() if listener in served]


def _versions(api: Api, source: _Package | _Release) -> Versions:
    ours = source.versions(api)
    if not ours:
        raise UnknownApiError(f"{api} has no version to announce")
    return Versions(0, ours.highest) if api.name == PRODUCE else ours


def _response_class() -> type[Message]:
    try:
        return class_of("ApiVersionsResponse")
    except AttributeError:
        raise UnknownApiError("this package has no ApiVersionsResponse") from None
