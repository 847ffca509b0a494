"""Whole files are replaced at once; a failed write leaves the earlier file."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kafka_message_generator import cli
from kafka_message_generator.files import replace_file
from tests.support.building import write_specs
from tests.support.full_disk import fill_disk
from tests.support.output import PROBE
from tests.support.pages import ROOT

NOBODY = 65534


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_new_file_has_the_usual_permissions(tmp_path: Path) -> None:
    replace_file(tmp_path / "new", [b"ab", b"", b"c"])
    (tmp_path / "usual").write_bytes(b"")
    assert (tmp_path / "new").read_bytes() == b"abc"
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "usual").stat().st_mode
    assert names(tmp_path) == ["new", "usual"]


@pytest.mark.parametrize("mode", [0o600, 0o664, 0o755])
def test_replaced_file_keeps_its_permissions(mode: int, tmp_path: Path) -> None:
    path = tmp_path / "report"
    path.write_bytes(b"old")
    path.chmod(mode)
    replace_file(str(path), [b"new"])
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"new", mode)


@pytest.mark.parametrize("is_there", [True, False])
def test_symbolic_link_is_followed(is_there: bool, tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    target, link = tmp_path / "inner" / "target", tmp_path / "link"
    if is_there:
        target.write_bytes(b"old")
    link.symlink_to("inner/target")
    replace_file(link, [b"new"])
    assert link.is_symlink()
    assert (target.read_bytes(), names(target.parent)) == (b"new", ["target"])


def test_longest_file_name_is_possible(tmp_path: Path) -> None:
    replace_file(tmp_path / ("n" * 255), [b"new"])
    assert names(tmp_path) == ["n" * 255]


def test_reader_never_sees_a_part(tmp_path: Path) -> None:
    path = tmp_path / "report"
    path.write_bytes(b"old")
    seen = []

    def parts() -> Iterator[bytes]:
        for part in (b"n" * 100_000, b"e" * 100_000):
            seen.append(path.read_bytes())
            yield part

    replace_file(path, parts())
    assert seen == [b"old", b"old"]
    assert path.stat().st_size == 200_000


@pytest.mark.parametrize("error", [KeyboardInterrupt(), ValueError("odd")], ids=["interrupt", "error"])
def test_interrupted_write_leaves_the_earlier_file(error: BaseException, tmp_path: Path) -> None:
    path = tmp_path / "report"
    path.write_bytes(b"old")

    def parts() -> Iterator[bytes]:
        yield b"new"
        raise error

    with pytest.raises(type(error)):
        replace_file(path, parts())
    assert (path.read_bytes(), names(tmp_path)) == (b"old", ["report"])


def test_full_disk_names_the_file_and_leaves_the_earlier_one(tmp_path: Path) -> None:
    path = tmp_path / "report"
    path.write_bytes(b"old")
    script = """
import resource, signal, sys
from kafka_message_generator import cli
from kafka_message_generator.files import replace_file
from tests.support.building import write_specs
from tests.support.full_disk import fill_disk
from tests.support.output import PROBE
from tests.support.pages import ROOT
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    replace_file(sys.argv[1], [bytes(100_000)])
except OSError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout == f"[Errno {errno.EFBIG}] File too large: {str(path)!r}\n"
    assert (path.read_bytes(), names(tmp_path)) == (b"old", ["report"])


@contextmanager
def as_nobody() -> Iterator[Path]:
    """Yield a folder of which the current user is not the superuser."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        is_root = os.geteuid() == 0
        if is_root:
            os.chown(folder, NOBODY, NOBODY)
            os.seteuid(NOBODY)
        try:
            yield Path(folder)
        finally:
            if is_root:
                os.seteuid(0)
            Path(folder).chmod(0o700)


def test_read_only_file_or_folder_is_named() -> None:
    with as_nobody() as folder:
        path = folder / "report"
        path.write_bytes(b"old")
        path.chmod(0o444)
        with pytest.raises(PermissionError) as of_file:
            replace_file(path, [b"new"])
        assert names(folder) == ["report"]
        path.chmod(0o644)
        folder.chmod(0o555)
        with pytest.raises(PermissionError) as of_folder:
            replace_file(path, [b"new"])
        assert path.read_bytes() == b"old"
    assert str(of_file.value) == str(of_folder.value) == f"[Errno {errno.EACCES}] Permission denied: {str(path)!r}"


def test_folder_missing_folder_and_endless_link_are_named(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    for name, number in ((".", errno.EISDIR), ("no/report", errno.ENOENT), ("loop", errno.ELOOP)):
        path = tmp_path / name
        with pytest.raises(OSError, match=str(tmp_path)) as raised:
            replace_file(path, [b"new"])
        assert (raised.value.errno, raised.value.filename) == (number, str(path))
    assert names(tmp_path) == ["loop"]


def test_mounted_file_that_cannot_be_renamed_is_written_directly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "mounted"
    path.write_bytes(b"longer than the new one")
    number = path.stat().st_ino

    fill_disk(monkeypatch, errno.EBUSY)
    replace_file(path, iter([b"n", b"ew"]))
    assert (path.read_bytes(), path.stat().st_ino, names(tmp_path)) == (b"new", number, ["mounted"])


def test_pipe_is_written_directly(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=replace_file, args=(path, [b"a", b"b"]))
    writer.start()
    assert path.read_bytes() == b"ab"
    writer.join()
    assert path.is_fifo()


@pytest.mark.parametrize("place", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
@pytest.mark.parametrize("is_file", [True, False], ids=["file", "pipe"])
def test_standard_output_is_written_directly(place: str, is_file: bool, tmp_path: Path) -> None:
    script = (
        "import sys; from kafka_message_generator.files import replace_file; replace_file(sys.argv[1], [b'a', b'b'])"
    )
    output = tmp_path / "output"
    with output.open("wb") as file:
        number = output.stat().st_ino
        target = file if is_file else subprocess.PIPE
        done = subprocess.run([sys.executable, "-c", script, place], stdout=target, check=True)
    assert (output.read_bytes() if is_file else done.stdout) == b"ab"
    assert output.stat().st_ino == number


def test_full_disk_leaves_earlier_exports_and_reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    specs = str(write_specs(tmp_path / "specs", PROBE))
    sides = ["--old", specs, "--new", specs, "--impact"]
    commands = {
        "protocol.json": ["export", "--specs", specs, "--output", str(tmp_path)],
        "page.html": ["compat", *sides, "--html", str(tmp_path / "page.html")],
        "past.md": ["compat", "--past", str(tmp_path / "past.md"), "--history", str(ROOT / "specs" / "history")],
    }
    for name in commands:
        (tmp_path / name).write_text("old")
    fill_disk(monkeypatch)
    found = {name: (cli.main(words), (tmp_path / name).read_text()) for name, words in commands.items()}
    assert found == {"protocol.json": (1, "old"), "page.html": (3, "old"), "past.md": (3, "old")}
    assert names(tmp_path) == ["page.html", "past.md", "protocol.json", "specs"]
