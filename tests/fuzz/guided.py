"""Coverage-guided fuzzing of reader, writer and plan parser with clang's libFuzzer."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

from tests.fuzz import build, record

HERE = Path(__file__).parent
SANITIZERS = ("-fsanitize=fuzzer-no-link,address,undefined", "-fno-sanitize-recover=undefined")

PATTERNS = {
    "inputs": r"stat::number_of_executed_units:\s+([0-9]+)",
    "seed": r"INFO: Seed: ([0-9]+)",
    "counters": r"INFO: Loaded [0-9]+ modules +\(([0-9]+) inline 8-bit counters\)",
    "reached": r"cov: ([0-9]+)",
}
"""Patterns of libFuzzer's statistics."""


def main(seconds: float, work: Path) -> int:
    """Build the fuzzer and run it, starting from the corpus of earlier runs; return 0 if it finds nothing."""
    work = work.resolve()
    core = build.build(work / "guided", "clang", *SANITIZERS)
    path = os.pathsep.join([str(core), str(build.ROOT), *filter(None, sys.path)])
    environment = os.environ | build.environment() | {"PYTHONPATH": path, "PYTHONHOME": prefixes()}
    done = subprocess.run(
        [str(driver(work)), *options(seconds, work)], env=environment, stderr=subprocess.PIPE, text=True
    )
    found = {name: re.findall(pattern, done.stderr) for name, pattern in PATTERNS.items()}
    if done.returncode or not all(found.values()):
        print(done.stderr[-6000:])
        return 1
    inputs, seed, counters, reached = (int(numbers[-1]) for numbers in found.values())
    kept = len(list((work / "corpus").iterdir()))
    record.keep(record.Run("guided", seed, seconds, {"inputs": inputs}))
    edges = f"{reached:,} of {counters:,} edges reached, including checks of the sanitizers"
    print(f"{inputs:,} inputs, {kept:,} kept; {edges}; nothing found")
    return 0


def prefixes() -> str:
    """Return PYTHONHOME for the embedded interpreter, which ignores virtual environments."""
    return f"{sys.base_prefix}:{sys.base_exec_prefix}"


def driver(work: Path) -> Path:
    """Build libFuzzer's main program around the running interpreter; return its path."""
    target, variables = work / "guided" / "fuzzer", sysconfig.get_config_vars()
    if not variables["Py_ENABLE_SHARED"]:
        raise build.NoCompiler("this Python was built without --enable-shared")
    flags = [f"-I{sysconfig.get_paths()['include']}", f"-L{variables['LIBDIR']}", f"-lpython{variables['LDVERSION']}"]
    flags += [f"-Wl,-rpath,{variables['LIBDIR']}", "-Wl,--export-dynamic", "-fsanitize=fuzzer,address,undefined", "-g"]
    subprocess.run(["clang", str(HERE / "guided.c"), "-o", str(target), *flags], check=True)
    return target


def options(seconds: float, work: Path) -> list[str]:
    """Write the initial corpus and return libFuzzer's options."""
    from tests.fuzz.target import corpus

    folder = work / "corpus"
    folder.mkdir(parents=True, exist_ok=True)
    for data in corpus():
        (folder / hashlib.sha1(data).hexdigest()).write_bytes(data)
    limits = ("-max_len=4096", "-timeout=60", "-rss_limit_mb=4096", "-detect_leaks=0", "-print_final_stats=1")
    return [str(folder), f"-max_total_time={seconds:.0f}", f"-artifact_prefix={work}/found-", *limits]
