"""Copy of the checkout that is mutated; the checkout itself is never changed."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
WORK = ROOT / ".work" / "mutations"
COPY = WORK / "copy"
GENERATOR = "generator/src/kafka_message_generator"
RUNTIME, GENERATED = f"{GENERATOR}/runtime", "generated/src/kafka_messages"
PARTS = {
    **{name: (f"{GENERATOR}/{name}", "generator") for name in ("rules", "plan", "merging", "render")},
    "runtime": (RUNTIME, "generated"),
    "records": ("packages/records/src/kafka_records", "records"),
    "analyses": ("packages/pipeline/src/kafka_messages_spark/analyses", "pipeline"),
}
"""Folder of the sources of each part, and the folder in tests."""
ENVIRONMENT = {
    **os.environ,
    "KAFKA_MESSAGES_NATIVE": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "TESTS_VERSIONS": "ends",
    "PYTHONPATH": os.pathsep.join(str(COPY / each.relative_to(ROOT)) for each in sorted(ROOT.glob("*/src")))
    + os.pathsep
    + os.pathsep.join(str(COPY / each.relative_to(ROOT)) for each in sorted(ROOT.glob("packages/*/src"))),
}
"""Environment in which the copy is imported, not the installed packages."""


def update() -> None:
    """Copy the files of the checkout that changed; delete the coverage then, because it names lines and tests."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    names = set(listed.stdout.splitlines())
    changed = [name for name in sorted(names) if (ROOT / name).is_file() and _differs(name)]
    for name in changed:
        (COPY / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, COPY / name)
    gone = [
        each for each in COPY.rglob("*.py") if ".work" not in each.parts and str(each.relative_to(COPY)) not in names
    ]
    for path in gone:
        path.unlink()
    if any(name.endswith(".py") for name in changed) or gone:
        for path in WORK.glob("coverage-*"):
            path.unlink()


def _differs(name: str) -> bool:
    path = COPY / name
    return not path.is_file() or path.read_bytes() != (ROOT / name).read_bytes()
