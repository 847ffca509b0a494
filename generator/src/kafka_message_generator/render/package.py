"""Rendering of a whole package: formatted files by path, and a manifest."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import black
from black.mode import TargetVersion
from black.parsing import InvalidInput

from kafka_message_generator.compat.availability import Availability
from kafka_message_generator.definitions import Definitions, annotations_of, files_of, older_of
from kafka_message_generator.render import prose, tables
from kafka_message_generator.render.availability import availability_of, sentence
from kafka_message_generator.render.availability import table as since_table
from kafka_message_generator.render.codec import message as codec
from kafka_message_generator.render.environment import ENVIRONMENT, TEMPLATES
from kafka_message_generator.render.identity import Identity, checked_name, sample
from kafka_message_generator.rules.entities import TYPES as ENTITY_FIELD_TYPES
from kafka_message_generator.spec.components import COMPONENTS

RUNTIME = Path(__file__).parents[1] / "runtime"
MODE = black.Mode(line_length=120, target_versions={TargetVersion.PY311})
TOOLS = ("black", "jinja2")
MANIFEST = "MANIFEST"
# Modules generated from all definitions together, with their component.
TABLES = (
    *(("enums", f"enums/{name}.py") for name in ("_abouts", "_protocol")),
    *(
        (component, f"{component}/_tables.py")
        for component in ("_base", "enums", "protocol", "connection", "internal_topics", "secrets")
    ),
    ("history", "history/_tables.py"),
    ("schema", "schema/_entities.py"),
)

# Exports of a package apart from its messages, with their modules.
EXPORTED = {
    "DecodeError": "errors",
    "EncodeError": "errors",
    "KafkaMessageError": "errors",
    "Message": "_base.message",
    "MessageClass": "_base.message",
    "MessageInfo": "_base.listing",
    "RawTaggedField": "_core.wire",
    "Request": "_base.message",
    "Response": "_base.message",
    "UnsupportedVersionError": "errors",
    "all_messages": "_base.listing",
    "implementation": "_core.native",
}

Files = dict[str, str]
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class PackageRequest:
    """Definitions, output folder and options of a package to generate.

    ``package`` and ``components`` override the settings. Raises IdentityError for an invalid name.
    """

    specs: Path
    output: Path
    package: str | None = None
    components: tuple[str, ...] | None = None
    more: tuple[Path, ...] = ()
    """Folders of older releases, whose versions are added."""

    def __post_init__(self) -> None:
        checked_name(self.package)


def inputs_hash(request: PackageRequest) -> str:
    """Return a hash of everything that determines the output, except the tool versions."""
    digest = hashlib.sha256(f"{request.package} {request.components}".encode())
    generator = Path(__file__).parents[1]
    ours = [path for ending in ("py", "json") for path in generator.rglob(f"*.{ending}")]
    root = request.specs if request.specs.is_dir() else request.specs.parent
    older = ((folder, files_of(folder)) for folder in older_of(request.specs, request.more))
    for folder, paths in (
        (generator, sorted([*ours, *TEMPLATES.rglob("*.jinja")])),
        (root, _of_package(request.specs)),
        *older,
    ):
        for path in paths:
            digest.update(
                b"\0"
                + path.relative_to(folder if folder.is_dir() else folder.parent).as_posix().encode()
                + b"\0"
                + path.read_bytes()
            )
    return digest.hexdigest()


def _of_package(specs: Path) -> list[Path]:
    return [*files_of(specs), *annotations_of(specs)]


def tools() -> dict[str, str]:
    return {tool: importlib.metadata.version(tool) for tool in TOOLS}


def render(identity: Identity, definitions: Definitions, progress: Progress = lambda done, count: None) -> Files:
    """Return every file of the package except its manifest, by path.

    ``progress`` is called with the numbers of finished and of all modules.
    """
    root = f"src/{identity.import_name}"
    found = availability_of(definitions)
    printed = {
        f"{root}/messages/{plan.module}.py": codec.render(plan, sentence(found, plan.name))
        for plan in definitions.plans
    }
    modules = [
        "__init__.py",
        *(name for component, name in TABLES if component in identity.components),
    ]
    printed |= {f"{root}/{name}": _template(name, identity, definitions, found) for name in modules}
    printed[f"{root}/messages/__init__.py"] = prose.header("the definitions") + '"""One module for each message."""\n'
    files = _formatted(printed, progress)
    for path in sorted(RUNTIME.rglob("*.py")):
        name = path.relative_to(RUNTIME)
        if name.parts[0].removesuffix(".py") in identity.components:
            header = prose.header(f"runtime/{name.as_posix()}")
            files[f"{root}/{name.as_posix()}"] = header + path.read_text(encoding="utf-8")
    files[f"{root}/py.typed"] = ""
    files["pyproject.toml"] = _template("pyproject.toml", identity, definitions, found)
    own = identity.readme
    files["README.md"] = _template("README.md", identity, definitions, found) if own is None else own
    return files | identity.license_files


def manifest(request: PackageRequest, identity: Identity, files: Files, used: dict[str, str]) -> str:
    """Return the manifest as JSON."""
    hashes = {path: hashlib.sha256(text.encode()).hexdigest() for path, text in sorted(files.items())}
    contents = {"package": identity.import_name, "inputs": inputs_hash(request), "tools": used, "files": hashes}
    return json.dumps(contents, indent=1) + "\n"


def _template(name: str, identity: Identity, definitions: Definitions, found: Availability | None) -> str:
    template = ENVIRONMENT.get_template(f"{name}.jinja")
    plans = sorted(definitions.plans, key=lambda plan: plan.name)
    return template.render(
        header=prose.header("the definitions"),
        package=identity,
        summary=prose.sentence(identity.summary),
        about={
            component.name: component.about
            for component in COMPONENTS.values()
            if component.name in identity.components
        },
        sample=sample(identity, plans),
        plans=plans,
        exports=EXPORTED | {plan.name: f"messages.{plan.module}" for plan in plans},
        apis=tables.apis(definitions),
        messages=tables.listed(definitions),
        record_types=tables.record_types(definitions),
        logs=tables.logs(definitions),
        error_codes=tables.error_codes(definitions),
        enumerations=tables.enumerations(definitions),
        abouts=tables.abouts(definitions),
        open_settings=definitions.open_settings,
        error_responses=definitions.error_responses,
        since=since_table(definitions, found),
        entities=definitions.entities,
        restrictions=definitions.restrictions,
        kips={name: dict(sorted(versions.items())) for name, versions in sorted(definitions.kips.items())},
        entity_types=tables.entity_types(definitions),
        entity_type_names=sorted(ENTITY_FIELD_TYPES),
        api_versions_import=tables.response_import(definitions, "ApiVersionsResponse"),
    )


def _formatted(files: Files, progress: Progress) -> Files:
    found = {}
    with ProcessPoolExecutor() as pool:
        texts = pool.map(_format, files, files.values(), chunksize=4)
        for name, text in zip(files, texts, strict=True):
            found[name] = text
            progress(len(found), len(files))
    return found


def _format(name: str, text: str) -> str:
    try:
        return black.format_str(text, mode=MODE)
    except InvalidInput as error:
        raise RuntimeError(f"internal error: the generated file {name} is not valid Python: {error}") from error
