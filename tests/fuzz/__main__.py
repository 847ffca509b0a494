"""Fuzz for a limited time and print counts; if native and pure code differ, print the case and exit with 1."""

from __future__ import annotations

import argparse
import faulthandler
import os
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from tests.fuzz import build, guided, library, record

SORTS = ("read", "write", "construct", "plan", "decode", "encode", "segments", "record_columns", "batch_headers")
WORK = Path(".work/fuzz")


def main() -> int:
    arguments = parsed()
    try:
        if arguments.guided:
            return library.guided(arguments.seconds, WORK) or guided.main(arguments.seconds, WORK)
        if arguments.tsan and arguments.python:
            return library.free_threaded(arguments.python, arguments.seconds, WORK)
        if arguments.tsan:
            return library.threads(arguments.inputs, WORK)
        if arguments.sanitize and "FUZZ_BUILD" not in os.environ:
            return sanitized(arguments.tests)
    except build.NoCompiler as error:
        print(f"cannot build the fuzzer: {error}", file=sys.stderr)
        return 2
    return fuzzed(arguments)


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="duration (default 60)")
    parser.add_argument(
        "--seed", type=int, default=random.SystemRandom().randrange(1 << 32), help="seed of a run to repeat"
    )
    parser.add_argument("--case", type=int, help="run only the case with this number")
    parser.add_argument("--only", choices=SORTS, help="run only cases of this kind")
    parser.add_argument("--sanitize", action="store_true", help="build with AddressSanitizer and UBSan")
    parser.add_argument("--tests", action="store_true", help="with --sanitize: run tests/native instead")
    parser.add_argument("--guided", action="store_true", help="fuzz guided by coverage, with libFuzzer")
    parser.add_argument("--tsan", action="store_true", help="run the C library in 8 threads under ThreadSanitizer")
    parser.add_argument("--inputs", type=int, default=1_000_000, help="with --tsan: number of inputs (default 1000000)")
    parser.add_argument("--python", help="with --tsan: fuzz the extensions in this free-threaded Python instead")
    return parser.parse_args()


def sanitized(is_for_tests: bool) -> int:
    """Run this command, or the tests of the core, with a sanitized build instead of the installed core."""
    folder = build.build(WORK.resolve() / "sanitized", "gcc", *build.SANITIZERS)
    path = os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))
    more = build.environment() | {"FUZZ_BUILD": "sanitized", "PYTHONPATH": path, "LD_PRELOAD": build.preloaded()}
    tests = ("pytest", "-q", "-n", "2", "tests/native", "--ignore=tests/native/test_native_fuzz.py")
    again = tests if is_for_tests else ("tests.fuzz", *sys.argv[1:])
    return subprocess.run([sys.executable, "-m", *again], env=os.environ | more).returncode


def fuzzed(arguments: argparse.Namespace) -> int:
    from tests.fuzz import cases, columns, segments
    from tests.fuzz.cases import Difference, samples

    faulthandler.enable()
    samples()  # loaded before the time limit starts
    kind = os.environ.get("FUZZ_BUILD", "plain")
    every = (*cases.CASES, *columns.CASES, *segments.CASES)
    chosen, shares = zip(*(one for one in every if arguments.only in (None, one[0].__name__)), strict=True)
    counts: Counter[str] = Counter()
    start, number, seed = time.monotonic(), arguments.case or 0, arguments.seed
    print(f"seed {seed}, {kind} build, {arguments.seconds:g} s", flush=True)
    try:
        while time.monotonic() < start + arguments.seconds:
            rnd = random.Random(f"{seed} {number}")
            (case,) = rnd.choices(chosen, shares)
            case(rnd, counts)
            if arguments.case is not None:
                return 0
            number += 1
    except Difference as difference:
        print(f"{difference}\nrepeat with: --seed {seed} --case {number}")
        return 1
    except KeyboardInterrupt:
        print("stopped early")
    record.keep(record.Run(kind, seed, round(time.monotonic() - start, 1), dict(counts)))
    print("this run:", ", ".join(f"{count:,} {sort}" for sort, count in counts.items()))
    for each, sum_of in record.sums().items():
        print(f"all runs, {each}:", ", ".join(f"{count:,} {sort}" for sort, count in sum_of.items()))
    return 0


sys.exit(main())
