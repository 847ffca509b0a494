"""Worker of one codec, with one JSON request per line on stdin and one answer on stdout.

Started as ``python peer_worker.py ADAPTER``. The requests are::

    {"do": "hello"}                                                          return the versions
    {"do": "load", "workload": "W1"}                                         build, encode, decode, encode again
    {"do": "freeze"}                                                         exempt loaded objects from collection
    {"do": "time", "workload": "W1", "operation": "decode", "loops": 1000}   CPU seconds of all repetitions
    {"do": "traced", "workload": "W1", "copies": 1000}                       bytes allocated per decoded message

A failed request returns the traceback as ``"error"``.
"""

from __future__ import annotations

import gc
import json
import platform
import sys
import traceback
import tracemalloc
from base64 import b64encode
from collections.abc import Callable, Iterator
from importlib import import_module, metadata
from itertools import repeat
from time import process_time
from types import ModuleType

from codec import OPERATIONS, RESULTS, Case, Operation
from workloads import WORKLOADS

Answer = dict[str, object]

# Dropping the result in the loop measures its release and keeps only one alive.
LOOP = """
def run(loops, message, data):
    begin = process_time()
    for _ in loops:
        {statement}
        del {result}
    return process_time() - begin
"""


class Loaded:
    def __init__(self, case: Case) -> None:
        self.case = case
        self.data = self._encode(case.message)
        self.again = self._encode(self._run(case.decode, data=self.data)["message"])
        for operation in case.more:
            self._check(operation)
        self.loops = {operation: self._compile(operation) for operation in case.statements}

    def time(self, operation: Operation, loops: int) -> float:
        return self.loops[operation](repeat(None, loops), self.case.message, self.data)

    def traced(self, copies: int) -> float:
        decode = self._decoder()
        kept: list[object] = [None] * copies
        gc.collect()  # also empties the free lists, which are not traced
        tracemalloc.start()
        before, _ = tracemalloc.get_traced_memory()
        for index in range(copies):
            kept[index] = decode(self.data)
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return (after - before) / copies

    def _encode(self, message: object) -> bytes:
        data = self._run(self.case.encode, message=message)["data"]
        assert isinstance(data, bytes | bytearray)
        return bytes(data)

    def _check(self, operation: Operation) -> None:
        names = self._run(self.case.more[operation], message=self.case.message, data=self.data)
        made, written = self._encode(names["message"]), names["data"]
        assert isinstance(written, bytes | bytearray)
        if made != self.data or written != self.data:
            raise ValueError(f"{operation} does not return the same message or bytes as encode")

    def _run(self, statement: str, **variables: object) -> dict[str, object]:
        names: dict[str, object] = {**self.case.names, **variables}
        exec(statement, names)
        return names

    def _decoder(self) -> Callable[[bytes], object]:
        source = f"def decode(data):\n    {self.case.decode}\n    return message"
        decode: Callable[[bytes], object] = self._run(source)["decode"]  # type: ignore[assignment]  # made by source
        return decode

    def _compile(self, operation: Operation) -> Callable[[Iterator[None], object, bytes], float]:
        source = LOOP.format(statement=self.case.statements[operation], result=RESULTS[operation])
        names = self._run(source, process_time=process_time)
        run: Callable[[Iterator[None], object, bytes], float] = names["run"]  # type: ignore[assignment]  # made by LOOP
        return run


class Worker:
    def __init__(self, adapter: ModuleType) -> None:
        self.adapter = adapter
        self.loaded: dict[str, Loaded] = {}

    def answer(self, request: dict[str, object]) -> Answer:
        try:
            match request:
                case {"do": "hello"}:
                    version = distribution_version(self.adapter.DISTRIBUTION)
                    return {"version": f"{version} on {python_version()}"}
                case {"do": "load", "workload": str(key)}:
                    loaded = self.loaded[key] = Loaded(self.adapter.prepare(WORKLOADS[key]))
                    return {"data": text(loaded.data), "again": text(loaded.again), "operations": list(loaded.loops)}
                case {"do": "freeze"}:
                    freeze()
                    return {}
                case {"do": "time", "workload": str(key), "operation": operation, "loops": int(loops)}:
                    return {"seconds": self.loaded[key].time(known(operation), loops)}
                case {"do": "traced", "workload": str(key), "copies": int(copies)}:
                    return {"bytes": self.loaded[key].traced(copies)}
            raise ValueError(f"unknown request {request!r}")
        except Exception:
            return {"error": traceback.format_exc()}


def freeze() -> None:
    gc.collect()
    gc.freeze()


def known(operation: object) -> Operation:
    return next(each for each in OPERATIONS if each == operation)


def text(data: bytes) -> str:
    return b64encode(data).decode()


def python_version() -> str:
    return f"{platform.python_implementation()} {platform.python_version()}"


def distribution_version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "(source tree)"


def main() -> None:
    worker = Worker(import_module(sys.argv[1]))
    for line in sys.stdin:
        print(json.dumps(worker.answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
