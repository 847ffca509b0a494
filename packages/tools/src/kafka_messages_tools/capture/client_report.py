"""Clients of a capture: client id, software, API versions in use, and Kafka releases that lack these versions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ..package import DEFAULT, Package, load
from .display import client_id_of
from .errors import errors_in
from .matching import Exchange, unsupported_version
from .reassembly import TcpConnection

# Maximum number of clients listed separately; further clients share one entry.
MOST_CLIENTS = 10_000
BEYOND = "(more clients)"


@dataclass
class Client:
    package: Package
    client_id: str | None
    software_name: str | None
    """Software name from the ApiVersions request, or None."""
    software_version: str | None
    is_unknown: bool = False
    """True if the client id was in a request that was not captured (KIP-1313)."""
    connections: set[TcpConnection] = field(default_factory=set)
    hosts: set[str] = field(default_factory=set)
    versions: Counter[tuple[int, int]] = field(default_factory=Counter)
    """Number of requests by API key and version."""
    errors: int = 0
    """Number of responses with an error code other than 0."""

    @property
    def lacking(self) -> list[tuple[int, int, str]]:
        """API keys and versions in use that the package's Kafka release does not support, with the reason."""
        found = ((*each, unsupported_version(self.package.api(each[0]), each[1])) for each in sorted(self.versions))
        return [each for each in found if each[2]]

    @property
    def releases(self) -> tuple[str, ...] | None:
        """Kafka releases that support all released versions in use; None without the component ``history``."""
        history = self.package.optional("history")
        if history is None:
            return None
        known = ((self.package.api(key), version) for key, version in self.versions.keys() - set(self.unreleased))
        names = ((api.request_name, version) for api, version in known if api is not None)
        return tuple(history.releases_with(names))

    @property
    def unreleased(self) -> list[tuple[int, int]]:
        """API keys and versions in use that no known Kafka release has; empty without the component ``history``."""
        return [each[:2] for each in self._in_history("since") if each[2] is None]

    @property
    def needing(self) -> list[tuple[int, int, str]]:
        """API keys and versions in use that older releases lack, with the first release that supports the version.

        Empty without the component ``history``.
        """
        first = getattr(self.package.optional("history"), "RELEASES", (None,))[0]
        return [each for each in self._in_history("since") if each[2] not in (None, first)]

    @property
    def gaps(self) -> list[tuple[int, int, tuple[str, ...]]]:
        """API keys and versions in use, with the releases that lack the version between releases that support it.

        Empty without the component ``history``.
        """
        return [each for each in self._in_history("gaps") if each[2]]

    @property
    def failing(self) -> list[tuple[int, int, str]]:
        """API keys and versions in use that newer releases lack, with the release that removed the version.

        Empty without the component ``history``.
        """
        return [each for each in self._in_history("until") if each[2]]

    def _in_history(self, name: str) -> list[tuple[int, int, Any]]:
        look_up: Any = getattr(self.package.optional("history"), name, None)
        used = ((*each, self.package.api(each[0])) for each in sorted(self.versions)) if look_up else ()
        return [(key, version, api and look_up(api.request_name, version)) for key, version, api in used]

    def to_object(self) -> dict[str, object]:
        """Return all data as a value for ``json.dumps``."""
        apis: dict[str, dict[str, int]] = {}
        for (key, version), count in sorted(self.versions.items()):
            apis.setdefault(api_name(self.package, key), {})[str(version)] = count
        known: dict[str, object] = {} if self.is_unknown else {"client_id": self.client_id}
        return known | {
            "software_name": self.software_name,
            "software_version": self.software_version,
            "hosts": sorted(self.hosts),
            "connections": len(self.connections),
            "requests": sum(self.versions.values()),
            "errors": self.errors,
            "apis": apis,
            "lacking": self._listed("reason", self.lacking),
            "releases": None if self.releases is None else list(self.releases),
            "failing": self._listed("until", self.failing),
            "failing_in": self._listed("releases", [(*each, list(releases)) for *each, releases in self.gaps]),
            "needing": self._listed("since", self.needing),
        }

    def _listed(self, name: str, found: Iterable[Any]) -> list[dict[str, object]]:
        return [{"api": api_name(self.package, key), "version": version, name: what} for key, version, what in found]


def api_name(package: Package, key: int) -> str:
    """Return the name of an API, or ``API 99`` if unknown."""
    api = package.api(key)
    return f"API {key}" if api is None else api.name


# Client id, software name and version, and whether the client is unknown.
_ClientKey = tuple[str | None, str | None, str | None, bool]


class Clients:
    """Collector of clients and their API versions.

    Client ids that may contain a secret are redacted unless ``show_secrets``.
    """

    def __init__(self, *, show_secrets: bool = False, package: str | Package = DEFAULT) -> None:
        self._package = load(package)
        self._redacts = not show_secrets
        self._clients: dict[_ClientKey, Client] = {}

    def add(self, exchange: Exchange) -> None:
        """Add an exchange to its client. Exchanges without a request header are ignored."""
        header = exchange.header
        if header is None:
            return
        connection = exchange.connection
        identity = exchange.identity
        software = (None, None) if identity is None else (identity.software_name, identity.software_version)
        client = self._client((client_id_of(exchange, self._redacts), *software, exchange.is_client_unknown))
        client.versions[header.request_api_key, header.request_api_version] += 1
        if len(client.connections) < MOST_CLIENTS:
            client.connections.add(connection)
        if len(client.hosts) < MOST_CLIENTS:
            client.hosts.add(exchange.client.host)
        if exchange.response is not None:
            client.errors += any(True for _ in errors_in(exchange.response.message, self._package))

    def _client(self, key: _ClientKey) -> Client:
        if key not in self._clients and len(self._clients) >= MOST_CLIENTS:
            key = BEYOND, None, None, False
        return self._clients.setdefault(key, Client(self._package, *key))

    def __iter__(self) -> Iterator[Client]:
        return iter(sorted(self._clients.values(), key=_order))


def _order(client: Client) -> tuple[str, str, str]:
    return client.client_id or "", client.software_name or "", client.software_version or ""
