"""Builds a wheel of the native core for each CPython of this machine, out of its source distribution.

python -m tests.support.native_wheels FOLDER
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tests.support.interpreters import interpreters
from tests.support.trials import Failed, run


def main(arguments: Sequence[str]) -> int:
    """Build the wheels next to the source distribution; return 1 if one could not be built."""
    folder = Path(arguments[0])
    source = next(folder.glob("kafka_messages_native-*.tar.gz")).resolve()
    try:
        for interpreter in interpreters():
            started = time.monotonic()
            pip = (sys.executable, "-m", "pip", "--python", interpreter.path)
            run(
                *pip,
                "wheel",
                "--quiet",
                "--no-deps",
                "--no-cache-dir",
                "--wheel-dir",
                str(folder.resolve()),
                str(source),
            )
            print(f"kafka-messages-native for {interpreter}: built in {time.monotonic() - started:.0f} s")
    except Failed as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
