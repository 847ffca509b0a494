"""What a broker says that it supports: the ApiVersionsResponse as Kafka's own brokers make it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from .._base.message import Message, class_of
from ..protocol import Api, UnknownApiError, Versions, apis
from ..protocol import api as api_of
from ._exchange import PRODUCE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..protocol import ApiKey
    from ..protocol._apis import AnyApi
    from ._tables import ApiVersionsResponse

_TELEMETRY = ("GetTelemetrySubscriptions", "PushTelemetry")
_NO_VERSIONS: Mapping[ApiKey | int, Versions] = {}
_NO_FEATURES: Mapping[str, Versions] = {}


def announce(
    apis: Iterable[AnyApi] | None = None,
    *,
    versions: Mapping[ApiKey | int, Versions] = _NO_VERSIONS,
    listener: str = "broker",
    allow_unstable: bool = False,
    has_telemetry: bool = False,
    supported_features: Mapping[str, Versions] = _NO_FEATURES,
    finalized_features: Mapping[str, Versions] = _NO_FEATURES,
    finalized_features_epoch: int = -1,
    zk_migration_ready: bool = False,
) -> ApiVersionsResponse:
    """The ApiVersionsResponse of a broker that has these APIs, in the versions of this package.

    ``apis`` are those that one implements; without it they are all of a ``listener`` (``broker`` or ``controller``), but
    those of client telemetry only with ``has_telemetry``. ``versions`` gives other ranges by API key, such as those of an
    older broker. An unstable latest version is announced only with ``allow_unstable``.

    Produce is announced from version 0 whatever the package has, as Kafka does: without that librdkafka up to 2.5.3 takes
    a broker for one that cannot decompress, and says nothing (KAFKA-18659). ``versions`` has the last word there too.

    Features are levels by name; ``finalized_features_epoch`` is -1 while they are not known. Raises UnknownApiError for
    an API or a package without versions.
    """
    chosen = _all(listener, has_telemetry) if apis is None else [api_of(each) for each in apis]
    ranges = {int(api.key): _versions(api, versions, allow_unstable) for api in chosen}
    kind: Any = _response_class()
    made: ApiVersionsResponse = kind(
        api_keys=[
            kind.ApiVersion(api_key=key, min_version=ours.lowest, max_version=ours.highest)
            for key, ours in sorted(ranges.items())
        ],
        supported_features=[
            kind.SupportedFeatureKey(name=name, min_version=levels.lowest, max_version=levels.highest)
            for name, levels in supported_features.items()
        ],
        finalized_features=[
            kind.FinalizedFeatureKey(name=name, min_version_level=levels.lowest, max_version_level=levels.highest)
            for name, levels in finalized_features.items()
        ],
        finalized_features_epoch=finalized_features_epoch,
        zk_migration_ready=zk_migration_ready,
    )
    return made


def _all(listener: str, has_telemetry: bool) -> list[Api]:
    served = (each for each in apis() if listener in each.listeners and each.stable_versions)
    return [each for each in served if has_telemetry or each.name not in _TELEMETRY]


def _versions(api: Api, given: Mapping[ApiKey | int, Versions], allow_unstable: bool) -> Versions:
    found = given.get(int(api.key))
    if found is not None:
        return found
    ours = api.valid_versions if allow_unstable else api.stable_versions
    if not ours:
        raise UnknownApiError(f"{api} has no version to announce")
    return Versions(0, ours.highest) if api.name == PRODUCE else ours


def _response_class() -> type[Message]:
    try:
        return class_of("ApiVersionsResponse")
    except AttributeError:
        raise UnknownApiError("this package has no ApiVersionsResponse") from None
