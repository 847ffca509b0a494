"""Testee of the codec mode that fails at every third request, in the way that its argument names."""

from __future__ import annotations

import json
import os
import sys
import threading
from typing import Any


def hang() -> None:
    threading.Event().wait()


def flood() -> None:
    while True:
        sys.stdout.write("x" * 65536)


def stop_in_a_line() -> None:
    sys.stdout.write('{"id":')
    sys.stdout.flush()
    os._exit(0)


def crash() -> None:
    print("out of memory\nnote: run again", file=sys.stderr)
    sys.exit(3)


FAILURES: dict[str, Any] = {
    "crash": crash,
    "hang": hang,
    "flood": flood,
    "half a line": stop_in_a_line,
    "text": lambda: print("decoding …", flush=True),
    "a number": lambda: print("3", flush=True),
    "another id": lambda: print('{"id": -1}', flush=True),
    "errors": lambda: print("x" * 1_000_000, file=sys.stderr),
}


def main(how: str) -> None:
    for line in sys.stdin:
        request = json.loads(line)
        fields: dict[str, Any] = {"data": request.get("data", "")}
        if request["op"] == "describe":
            fields = {"name": "broken", "operations": ["rewrite"]}
        elif request["id"] % 3 == 0:
            FAILURES[how]()
        print(json.dumps({"id": request["id"], **fields}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
