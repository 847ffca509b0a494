"""The C library without Python: fuzzed by libFuzzer, and by 8 threads under ThreadSanitizer."""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import time
from pathlib import Path

from tests.fuzz import build, record

DRIVER = Path(__file__).with_name("library.c")
LIBRARY = build.SOURCES / "library"
FLAGS = ("-std=c11", "-D_GNU_SOURCE", "-g", "-O1", "-fno-omit-frame-pointer")
GUIDED = ("-fsanitize=fuzzer,address,undefined", "-fno-sanitize-recover=undefined")
THREADS = ("-DTHREADS", "-fsanitize=thread", "-pthread")
COUNTED = r"([0-9]+) plans, ([0-9]+) columns, ([0-9]+) records, ([0-9]+) headers"


def compiled(target: Path, compiler: str, *flags: str) -> Path:
    """Build the driver with the library; return its path."""
    if shutil.which(compiler) is None:
        raise build.NoCompiler(f"{compiler} is not installed")
    target.parent.mkdir(parents=True, exist_ok=True)
    sources = (DRIVER, *sorted(LIBRARY.glob("*.c")))
    subprocess.run([compiler, *FLAGS, *flags, *map(str, sources), "-o", str(target)], check=True)
    return target


def seeds() -> list[bytes]:
    """Return plans with a message each, and record batches."""
    from kafka_records.format import HEADER

    from tests.fuzz.target import planned
    from tests.support.segment_implementations import some_batches

    found = [
        sample.owner._plan.encode() + b"\0" + sample.version.to_bytes(2, "big") + sample.data for sample in planned()
    ]
    for number in range(12):
        batch = some_batches(random.Random(number))
        count = int.from_bytes(batch[HEADER - 4 : HEADER], "big")
        found += [b"\0" + batch[:4000], b"\0" + bytes([count % 9]) + batch[HEADER:][:4000]]
    return found


def environment(work: Path) -> dict[str, str]:
    """Write the file of seeds; return environment variables of the driver."""
    path = work / "library" / "seeds"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(len(seed).to_bytes(4, "big") + seed for seed in seeds()))
    return os.environ | {"FUZZ_SEEDS": str(path), "TSAN_OPTIONS": "halt_on_error=1"}


def threads(inputs: int, work: Path) -> int:
    """Run mutated inputs in 8 threads under ThreadSanitizer; return 0 if it reports nothing."""
    work = work.resolve()
    program, start = compiled(work / "library" / "threads", "gcc", *THREADS), time.monotonic()
    done = subprocess.run([program, str(inputs)], env=environment(work) | {"LD_PRELOAD": ""}, capture_output=True, text=True)
    counts = re.search(COUNTED, done.stdout)
    if done.returncode or counts is None:
        print(done.stderr[-6000:])
        return 1
    total = sum(map(int, counts.groups()))
    record.keep(record.Run("tsan", 0, round(time.monotonic() - start, 1), {"inputs": total}))
    print(f"{total:,} inputs in 8 threads: {counts[0]}; nothing found")
    return 0


def guided(seconds: float, work: Path) -> int:
    """Run libFuzzer on the library; return 0 if it finds nothing."""
    work = work.resolve()
    program, corpus = compiled(work / "library" / "guided", "clang", *GUIDED), work / "library" / "corpus"
    corpus.mkdir(exist_ok=True)
    for number, seed in enumerate(seeds()):
        message = seed.partition(b"\0")[2]
        for kind, data in enumerate((seed, message, message, message)):
            (corpus / f"seed-{number}-{kind}").write_bytes(bytes((kind, number, 8, 0)) + data)
    limits = ("-max_len=8192", "-timeout=60", "-rss_limit_mb=4096", "-detect_leaks=1", "-print_final_stats=1")
    options = (f"-max_total_time={seconds:.0f}", f"-artifact_prefix={work}/library/found-", *limits)
    done = subprocess.run([program, corpus, *options], env=environment(work), stderr=subprocess.PIPE, text=True)
    counts = re.search(r"stat::number_of_executed_units:\s+([0-9]+)", done.stderr)
    if done.returncode or counts is None:
        print(done.stderr[-6000:])
        return 1
    record.keep(record.Run("library", 0, seconds, {"inputs": int(counts[1])}))
    print(f"{int(counts[1]):,} inputs of the library; nothing found")
    return 0


def free_threaded(python: str, seconds: float, work: Path) -> int:
    """Run these tests in a free-threaded Python, with extensions built with ThreadSanitizer."""
    ask = "import sysconfig; print(sysconfig.get_config_var('Py_GIL_DISABLED'))"
    done = subprocess.run([python, "-c", ask], capture_output=True, text=True)
    if done.stdout != "1\n":
        raise build.NoCompiler(f"{python} is not a free-threaded build of CPython")
    folder = build.build(work.resolve() / "tsan", "gcc", "-fsanitize=thread", python=python)
    path = os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))
    more = {
        "FUZZ_BUILD": "tsan",
        "PYTHONPATH": path,
        "PYTHON_GIL": "0",
        "LD_PRELOAD": build.preloaded("gcc", "libtsan.so"),
    }
    command = [python, "-m", "tests.fuzz", "--seconds", f"{seconds:g}"]
    return subprocess.run(command, env=os.environ | more).returncode
