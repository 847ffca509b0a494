"""The check of built wheels: it passes only with a working core, also with the command of cibuildwheel."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

from kafka_protocol_upstream.publish.interpreters import OLDEST
from tests.support.implementations import script
from tests.support.pages import ROOT

PYPROJECT = tomllib.loads((ROOT / "packages" / "native" / "pyproject.toml").read_text(encoding="utf-8"))
ALSO = "read and written natively; also as columns, and Kafka's segments\n"
WITHOUT_COLUMNS = """
import sys
sys.modules["kafka_messages_native._columns"] = None
from tests.support import native_proof, vectors
vectors.committed = lambda: {"HeartbeatRequest": vectors.pinned()["HeartbeatRequest"][-1:]}
print(*native_proof.column_problems(), *native_proof.record_problems(), sep="\\n")
"""
PROVE = """
from tests.support import native_proof
print("\\n".join(native_proof.problems()))
"""
DECLINED = """
from kafka_messages import ApiVersionsRequest
from tests.support import vectors
class Data(bytes): pass
found = vectors.Vector("ApiVersionsRequest", 3, "subclass", Data(ApiVersionsRequest().write(3)), None, {})
vectors.committed = lambda: {"ApiVersionsRequest": [found]}
vectors.message_names = lambda: ["ApiVersionsRequest"]
"""
OTHER_PLAN = """
from kafka_messages.messages.api_versions_request import ApiVersionsRequest
base = next(base for base in ApiVersionsRequest.__mro__ if "_plan" in vars(base))
base._plan = "no plan"
"""


def test_proof_passes_with_the_cibuildwheel_command(tmp_path: Path) -> None:
    settings = PYPROJECT["tool"]["cibuildwheel"]
    for source in settings["test-sources"]:
        shutil.copytree(ROOT / source, tmp_path / source, ignore=shutil.ignore_patterns("__pycache__"))
    command = settings["test-command"].split()
    assert command[0] == "python"
    done = subprocess.run([sys.executable, *command[1:]], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.fullmatch(r"[0-9]+ encodings of [0-9]+ messages " + ALSO, done.stdout)


def test_proof_without_pyarrow_reports_what_was_not_run() -> None:
    printed = script(
        "import importlib.util as found; find = found.find_spec\n"
        "found.find_spec = lambda name, *rest: None if name == 'pyarrow' else find(name, *rest)\n"
        "from tests.support import native_proof; native_proof.main()"
    )
    assert printed.endswith("messages read and written natively; columns and records not run: no pyarrow\n")


def test_missing_columns_are_reported() -> None:
    assert script(WITHOUT_COLUMNS).splitlines() == [
        "HeartbeatRequest v4: columns were left to the pure code",
        "the core is not used for records",
    ]


def test_calls_declined_by_the_core_are_reported() -> None:
    printed = script(DECLINED + PROVE).splitlines()
    assert printed == [
        *(f"ApiVersionsRequest v{version}: there is no encoding" for version in (0, 1, 2, 4, 5)),
        "ApiVersionsRequest: 2 calls were left to the pure code",
    ]


def test_message_with_rejected_plan_is_reported() -> None:
    printed = script(OTHER_PLAN + PROVE).splitlines()
    assert len(printed) == 1
    assert printed[0].startswith("ApiVersionsRequest: the core refused it: ")


def test_rejected_plan_of_a_message_without_encodings_is_reported() -> None:
    without = """
from tests.support import vectors
rest = vectors.by_message(each for name, group in vectors.committed().items() if "ApiVersions" not in name for each in group)
vectors.committed = lambda: rest
vectors.message_names = lambda: ["ApiVersionsRequest", "ApiVersionsResponse"]
"""
    printed = script(OTHER_PLAN + without + PROVE).splitlines()
    assert printed == [
        *(f"ApiVersionsRequest v{version}: there is no encoding" for version in range(6)),
        *(f"ApiVersionsResponse v{version}: there is no encoding" for version in range(6)),
        "ApiVersionsRequest: the core refused it: line 1 of the plan: expected a number",
    ]


def test_requires_python_equals_the_oldest_supported_version() -> None:
    assert PYPROJECT["project"]["requires-python"] == f">={'.'.join(map(str, OLDEST))}"
