"""Errors and dependencies of the package; segments without the C extension."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import kafka_records
import pytest
from kafka_records import errors

SEGMENT = """
import io, warnings
from kafka_records.segments import read_segments, read_batch_headers, write_batches
data = write_batches([{"value": b"v"}])
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for read in (read_segments, read_batch_headers, read_segments):
        assert sum(map(len, read(io.BytesIO(data)))) == 1
print(*(f"{each.category.__name__}: {each.message}" for each in caught), sep="\\n")
"""
GIBIBYTE = """
import io, resource
from kafka_records.segments import read_segments, write_batches

class Repeated:
    data = write_batches([{"value": bytes(16384)}] * 64, max_records=16)
    left = 1 << 30

    def read(self, size=-1):
        size = min(size, self.left, 1 << 20)
        start = -self.left % len(self.data)
        found = self.data[start : start + size]
        self.left -= len(found)
        return found

Repeated.left -= Repeated.left % len(Repeated.data)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
rows = sum(map(len, read_segments(Repeated(), check_crcs=False)))
print(rows // 64 * len(Repeated.data), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def last_lines(code: str, **environment: str) -> list[str]:
    line = [sys.executable, "-c", code]
    environment = {"PYTHONPATH": ":".join(filter(None, sys.path)), **environment}
    done = subprocess.run(line, capture_output=True, text=True, check=False, env=environment, timeout=300)
    return (done.stdout + done.stderr).strip().splitlines()


def test_errors_share_a_base_class() -> None:
    found = [each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, Exception)]
    assert {each.__name__ for each in found if not issubclass(each, kafka_records.RecordError)} == {"MalformedRecord"}
    assert issubclass(kafka_records.RecordError, ValueError)
    assert {each.__name__ for each in found} - {"MalformedRecord"} <= set(kafka_records.__all__)


def test_exported_names_exist() -> None:
    assert all(getattr(kafka_records, name) is not None for name in kafka_records.__all__)
    assert set(kafka_records.__all__) <= set(dir(kafka_records))
    assert kafka_records.CompressionName.__args__ == kafka_records.format.CODECS  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match=r"^module 'kafka_records' has no attribute 'read_batch'$"):
        kafka_records.read_batch  # noqa: B018


@pytest.mark.parametrize("package", ["numpy", "pyarrow"])
def test_segments_without_the_extra_raise_module_not_found(package: str) -> None:
    code = f"import sys; sys.modules[{package!r}] = None; from kafka_records.segments import read_segments"
    assert last_lines(code)[-1] == (
        f"ModuleNotFoundError: kafka_records.segments needs the package {package}, which is not installed: "
        "pip install numpy pyarrow crc32c cramjam zstandard"
    )


def test_extras_and_groups_install_every_codec() -> None:
    """cramjam before 2.11 cannot decompress the lz4 blocks; columns need zstandard for truncated frames."""
    root = Path(__file__).parents[2]
    extras = tomllib.loads((root / "packages/records/pyproject.toml").read_text())["project"]["optional-dependencies"]
    groups = tomllib.loads((root / "pyproject.toml").read_text())["dependency-groups"]
    for packages in (extras["arrow"], extras["compression"], groups["arrow"], groups["compression"]):
        assert {"cramjam>=2.11", "zstandard>=0.23"} <= {each.partition(";")[0] for each in packages}


def test_record_objects_import_no_third_party_package() -> None:
    code = (
        "import sys; from kafka_records import *\n"
        "[record] = read_batches(write_batch([Record(value=b'v')], compression='gzip')).records()\n"
        "ours = {name.partition('.')[0] for name in sys.modules} - sys.stdlib_module_names\n"
        "print(record.value, *sorted(ours & {'numpy', 'pyarrow', 'kafka_messages'}))"
    )
    assert last_lines(code) == ["b'v'"]


def test_missing_extension_warns_once() -> None:
    pytest.importorskip("pyarrow", reason="the extra `arrow` is not installed")
    absent = "import sys; sys.modules['kafka_messages_native'] = None\n"
    assert last_lines(absent + SEGMENT) == [
        "RuntimeWarning: kafka_records reads segments in pure Python, which is slow; "
        "install or update kafka-messages-native"
    ]
    assert last_lines(SEGMENT, KAFKA_MESSAGES_NATIVE="0") == []


def test_memory_is_bounded_for_a_large_segment() -> None:
    pytest.importorskip("pyarrow", reason="the extra `arrow` is not installed")
    pytest.importorskip("resource", reason="this platform does not measure memory")
    [line] = last_lines(GIBIBYTE, KAFKA_MESSAGES_NATIVE="0")
    size, kibibytes = map(int, line.split())
    assert size > (1 << 30) - (2 << 20)
    assert kibibytes < 150 << 10
