"""Identity of a package from its settings and defaults: names, metadata and components."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_message_generator.definitions import Definitions
from kafka_message_generator.plan.model import MessagePlan
from kafka_message_generator.render.environment import toml
from kafka_message_generator.rules.headers import has_headers
from kafka_message_generator.spec.components import COMPONENTS, called_for
from kafka_message_generator.spec.model import REQUEST, RESPONSE
from kafka_message_generator.spec.setting_checks import import_name_problem
from kafka_message_generator.spec.settings import FILE, Settings


class IdentityError(ValueError):
    """Raised for a missing or invalid package name, or an unsuitable output folder."""


@dataclass(frozen=True)
class Identity:
    """Everything about a package except its messages."""

    import_name: str
    distribution: str
    version: str
    description: str
    readme: str | None
    components: tuple[str, ...]
    """Names of the package's components, each after the components that it imports."""
    metadata: tuple[tuple[str, str], ...]
    """Further lines of ``[project]`` in pyproject.toml: key and TOML value."""
    urls: tuple[tuple[str, str], ...]
    license_files: dict[str, str]

    @property
    def summary(self) -> str:
        return self.description.rstrip(" .") or self.description

    @property
    def extras(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {"tools": ["kafka-messages-tools"]}
        for component in (COMPONENTS[name] for name in self.components):
            if component.extra:
                found[component.extra_name] = list(
                    dict.fromkeys((*found.get(component.extra_name, ()), *component.extra))
                )
        return found


def checked_name(given: str | None) -> str | None:
    if given is not None and (reason := import_name_problem(given)) is not None:
        raise IdentityError(reason)
    return given


def identity_of(definitions: Definitions, given: str | None) -> Identity:
    """Return the identity of a package; the import name ``given`` overrides the settings. Raises IdentityError."""
    settings = definitions.settings
    name = given or settings.import_name
    if name is None:
        raise IdentityError(f"the package has no name; give --package NAME, or import-name below [package] in {FILE}")
    is_own = name == settings.import_name  # the settings describe only a package of their own name
    distribution = settings.distribution if is_own else None
    metadata = {
        "requires-python": settings.requires_python,
        "license": settings.license,
        "license-files": list(settings.license_files) or None,
        "authors": [author.project_keys for author in settings.authors] or None,
        "classifiers": _classifiers(settings),
    }
    components = _components(definitions)
    return Identity(
        import_name=name,
        distribution=distribution or name.replace("_", "-"),
        version=settings.version or definitions.release or "0.1.0",
        description=settings.description or "Typed messages, generated from their definitions",
        readme=settings.readme if is_own else None,
        components=components,
        metadata=tuple((key, toml(value)) for key, value in metadata.items() if value is not None),
        urls=tuple(settings.urls.items()),
        license_files=dict(settings.license_files),
    )


def _classifiers(settings: Settings) -> list[str]:
    return list(dict.fromkeys(("Typing :: Typed", "Programming Language :: Python :: 3", *settings.classifiers)))


def _components(definitions: Definitions) -> tuple[str, ...]:
    kinds = {message.kind for message in definitions.messages if not message.is_removed}
    if not has_headers(definitions.messages):
        kinds -= {REQUEST, RESPONSE}
    chosen = definitions.settings.components
    selected = set(called_for(kinds) if chosen is None else chosen)
    if chosen is None and definitions.secrets.fields + definitions.secrets.settings:
        selected.add("secrets")
    if chosen is None and definitions.enumerations:
        selected.add("enums")
    for component in reversed(COMPONENTS.values()):
        if component.is_basic or component.name in selected:
            selected |= {component.name, *component.needs}
    return tuple(name for name in COMPONENTS if name in selected)


def sample(identity: Identity, plans: list[MessagePlan]) -> str:
    if not plans:
        return ""
    name, version = plans[0].name, plans[0].valid.highest
    lines = (
        f"from {identity.import_name} import {name}\n",
        f"message = {name}()",
        f"data = message.write({version})",
        f"assert {name}.read(data, {version}) == message",
        f"assert message.size({version}) == len(data)",
    )
    return "\n".join(lines) + "\n"
