"""The package of the proposals is generated when a test first imports it."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.building import write_specs
from tests.support.pages import ROOT
from tests.support.proposals import PackageOnDemand
from tests.support.specs import field, message

IMPORT = """
import sys
from pathlib import Path
from tests.support.proposals import PackageOnDemand
package = PackageOnDemand("on_demand", Path(sys.argv[1]), Path(sys.argv[2]))
package.install()
package.install()
import kafka_messages
print(package.folder.exists() and "written before")
from on_demand import Few
from on_demand.messages import few
print(few.__file__.startswith(str(package.source)), sum(each == package for each in sys.meta_path))
"""
SETTINGS = '[package]\nimport-name = "on_demand"\n'


def test_package_is_written_by_its_first_import_also_in_two_processes(tmp_path: Path) -> None:
    specs = write_specs(tmp_path / "specs", message(field("A", about="Sample."), name="Few"))
    (specs / "package.toml").write_text(SETTINGS)
    folder = tmp_path / "made" / "package"
    command = [sys.executable, "-c", IMPORT, str(specs), str(folder)]
    workers = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    printed = [worker.communicate(timeout=300)[0] for worker in workers]
    assert [worker.returncode for worker in workers] == [0, 0]
    assert printed[0].endswith("True 0\n")
    assert printed[1].endswith("True 0\n")
    assert "False\nTrue 0\n" in printed  # at least one process found no package before its import


def test_only_one_process_writes_at_a_time(tmp_path: Path) -> None:
    folder = tmp_path / "package"
    with closing(sqlite3.connect(tmp_path / "package.lock", isolation_level=None)) as lock:
        lock.execute("BEGIN EXCLUSIVE")  # as another process
        with pytest.raises(sqlite3.OperationalError, match=r"^database is locked$"):
            PackageOnDemand("on_demand", tmp_path, folder, timeout=0).write()


def test_collecting_other_tests_does_not_write_the_package() -> None:
    code = "import sys, tests.conftest; print(sys.meta_path[0].name, 'kafka_messages_proposals' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "kafka_messages_proposals False\n"
