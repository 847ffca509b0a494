"""Which version to speak: what a broker announces (KIP-35, KIP-584) against what this package has."""

from __future__ import annotations

from .._core.value import dataclass
from .._core.versions import NO_VERSIONS, Versions
from ..errors import UnsupportedVersionError
from ._apis import Api, Restriction, key_of
from ._apis import api as api_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Self

    from ._apis import AnyApi
    from ._shapes import ApiVersionsResponse


@dataclass(frozen=True, slots=True)
class BrokerVersions:
    """What one broker supports. Brokers of one cluster may differ, above all during an upgrade."""

    versions: dict[int, Versions]
    """By API key, keys that this package does not know included."""
    supported_features: dict[str, Versions]
    """Levels that the broker can run, by feature; empty before version 3 of the response."""
    finalized_features: dict[str, Versions]
    """Levels in force across the cluster, by feature; empty when they are not known."""
    finalized_features_epoch: int | None
    """Grows with the finalized features; None when they are not known, and ``finalized_features`` says nothing."""

    @classmethod
    def from_response(cls, response: ApiVersionsResponse) -> Self:
        """What an ApiVersionsResponse says.

        Its error code is not looked at: also the answer to an unsupported version (KIP-511) tells the versions of
        ApiVersions, to ask again. Of entries with the same key the last counts, as in Kafka's clients.
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
    def of(cls, versions: Mapping[AnyApi, Versions]) -> Self:
        """What a broker supports that says nothing of features: ``BrokerVersions.of({ApiKey.METADATA: Versions(0, 5)})``.

        Keys are all that names an API, also a number that this package does not know. Raises UnknownApiError.
        """
        return cls({key_of(each): theirs for each, theirs in versions.items()}, {}, {}, None)

    def supports(self, api: AnyApi, version: int) -> bool:
        """Whether the broker has this version of an API; the key may be one that this package does not know."""
        return version in self._of(api)

    def highest_common(self, api: AnyApi, *, allow_unstable: bool = False) -> int:
        """The highest version of an API that the broker has and the package offers.

        An unstable latest version counts only with ``allow_unstable``. Versions for brokers only are left out, and those
        that need a feature which the broker has not finalized: see ``Api.restrictions``. One that is about some requests
        alone does not count here; ``ClientConnection.best_version`` looks at the request.

        Raises UnsupportedVersionError with both ranges when there is none, and UnknownApiError for an API that this
        package does not know.
        """
        api = api_of(api)
        restrictions = [each for each in api.restrictions if each.field is None]
        return common_versions(self, api, restrictions, allow_unstable=allow_unstable)[0]

    def _of(self, api: AnyApi) -> Versions:
        return self.versions.get(key_of(api), NO_VERSIONS)


def common_versions(
    broker: BrokerVersions, api: Api, restrictions: Iterable[Restriction], *, allow_unstable: bool = False
) -> tuple[int, ...]:
    """Return the versions of an API that the broker has and the package offers, the highest first; at least one.

    Those of ``restrictions`` are left out unless the broker has finalized the feature. Raises UnsupportedVersionError
    with both ranges.
    """
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
    """Whether the feature that some versions need is finalized at its level; never for brokers only."""
    if restriction.feature is None or broker.finalized_features_epoch is None:
        return False
    return broker.finalized_features.get(restriction.feature, NO_VERSIONS).highest >= restriction.level


def _broker(theirs: Versions) -> str:
    return "the broker does not offer this API" if theirs == NO_VERSIONS else f"the broker has {theirs}"


def _package(api: Api, ours: Versions) -> str:
    offered = api.supported_versions
    if not offered:
        return "this package offers none since the API was removed"
    hidden = "" if ours == offered else f" (and version {offered.highest}, which is unstable)"
    return f"this package offers {ours}{hidden}"


def negotiate(response: ApiVersionsResponse, api: AnyApi, *, allow_unstable: bool = False) -> int:
    """The highest version of an API that the sender of an ApiVersionsResponse has and this package offers.

    The same as ``BrokerVersions.from_response(response).highest_common(api)``, which is better for more than one API.
    Raises UnsupportedVersionError with both ranges when there is none, and UnknownApiError.
    """
    return BrokerVersions.from_response(response).highest_common(api, allow_unstable=allow_unstable)
