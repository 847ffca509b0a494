"""Version negotiation (KIP-35, KIP-584)."""

from __future__ import annotations

from .._core.value import dataclass
from .._core.versions import NO_VERSIONS, Versions
from ..errors import UnsupportedVersionError
from ._apis import Api, Restriction, key_of
from ._apis import api as api_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Self

    from _typeshed import SupportsItems

    from ._apis import AnyApi
    from ._shapes import ApiVersionsResponse


@dataclass(frozen=True, slots=True)
class BrokerVersions:
    """Versions and features of one broker."""

    versions: dict[int, Versions]
    """Versions by API key, including unknown keys."""
    supported_features: dict[str, Versions]
    """Levels that the broker can run, by feature."""
    finalized_features: dict[str, Versions]
    """Levels in force in the cluster, by feature; empty if unknown."""
    finalized_features_epoch: int | None
    """Epoch of ``finalized_features``, or None if unknown."""

    @classmethod
    def from_response(cls, response: ApiVersionsResponse) -> Self:
        """Return the versions and features in an ApiVersionsResponse.

        Ignores the error code: after UNSUPPORTED_VERSION (KIP-511) the versions of ApiVersions are valid. The last of
        duplicate keys is used, as in Kafka's clients.
        """
        epoch = response.finalized_features_epoch
        return cls(
            versions={entry.api_key: Versions(entry.min_version, entry.max_version) for entry in response.api_keys},
            supported_features={f.name: Versions(f.min_version, f.max_version) for f in response.supported_features},
            finalized_features={
                f.name: Versions(f.min_version_level, f.max_version_level) for f in response.finalized_features
            },
            finalized_features_epoch=epoch if epoch >= 0 else None,
        )

    @classmethod
    def of(cls, versions: SupportsItems[AnyApi, Versions]) -> Self:
        """Return the versions of a broker without features: ``BrokerVersions.of({ApiKey.METADATA: Versions(0, 5)})``.

        Raises UnknownApiError.
        """
        return cls({key_of(each): theirs for each, theirs in versions.items()}, {}, {}, None)

    def supports(self, api: AnyApi, version: int) -> bool:
        """Return whether the broker supports a version of an API, even if this package does not know key or version."""
        return version in self.versions.get(key_of(api), NO_VERSIONS)

    def highest_common(self, api: AnyApi, *, allow_unstable: bool = False) -> int:
        """Return the highest version of an API that the broker and this package support.

        Excludes unmet ``Api.restrictions``, except those that depend on a request field (see
        ``ClientConnection.best_version``), and an unstable latest version unless ``allow_unstable``.

        Raises UnknownApiError, and UnsupportedVersionError with both ranges.
        """
        api = api_of(api)
        restrictions = [each for each in api.restrictions if each.field is None]
        return common_versions(self, api, restrictions, allow_unstable=allow_unstable)[0]


def common_versions(
    broker: BrokerVersions, api: Api, restrictions: Iterable[Restriction], *, allow_unstable: bool = False
) -> tuple[int, ...]:
    theirs = broker.versions.get(int(api.key), NO_VERSIONS)
    ours = api.supported_versions if allow_unstable else api.stable_versions
    unmet = [each for each in restrictions if not _is_met(each, broker)]
    common = range(min(theirs.highest, ours.highest), max(theirs.lowest, ours.lowest) - 1, -1)
    found = tuple(version for version in common if not any(version in each.versions for each in unmet))
    if found:
        return found
    reason = "".join(f", {each}" for each in unmet) if common else ""
    raise UnsupportedVersionError(f"{api}: no common version: {_broker(theirs)}, {_package(api, ours)}{reason}")


def _is_met(restriction: Restriction, broker: BrokerVersions) -> bool:
    if restriction.feature is None or broker.finalized_features_epoch is None:
        return False
    return broker.finalized_features.get(restriction.feature, NO_VERSIONS).highest >= restriction.level


def _broker(theirs: Versions) -> str:
    return "the broker does not support this API" if theirs == NO_VERSIONS else f"the broker supports {theirs}"


def _package(api: Api, ours: Versions) -> str:
    supported = api.supported_versions
    if not supported:
        return "this package supports none since the API was removed"
    hidden = "" if ours == supported else f" (and version {supported.highest}, which is unstable)"
    return f"this package supports {ours}{hidden}"


def negotiate(response: ApiVersionsResponse, api: AnyApi, *, allow_unstable: bool = False) -> int:
    """Return the highest version of an API that this package and the sender of ``response`` support.

    ``BrokerVersions.highest_common`` is faster for several APIs. Raises UnknownApiError, and UnsupportedVersionError
    with both ranges.
    """
    return BrokerVersions.from_response(response).highest_common(api, allow_unstable=allow_unstable)
