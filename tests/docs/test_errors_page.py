"""The page on errors lists every public exception of the package."""

from __future__ import annotations

import ast

from tests.support import pages

PACKAGES = [
    pages.ROOT / path
    for path in (
        "generated/src/kafka_messages",
        "packages/records/src/kafka_records",
        "packages/tools/src/kafka_messages_tools",
    )
]


def _public() -> set[str]:
    found: set[str] = set()
    for path, package in ((path, folder) for folder in PACKAGES for path in folder.rglob("*.py")):
        inside = path.relative_to(package).with_suffix("").parts
        if any(part.startswith("_") for part in inside if part != "__init__"):
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
                found |= {name for name in ast.literal_eval(node.value) if name.endswith("Error")}
    return found - {"Error", "FoundError"}  # these describe error codes and are not exceptions


def test_every_public_error_is_documented() -> None:
    public = _public()
    assert {"JsonError", "RemoteProtocolError", "CorruptSegmentError"} < public
    text = pages.text("docs/guide/errors.md") + pages.text("docs/batches.md")
    assert {name for name in public if f"`{name}`" not in text} == set()
