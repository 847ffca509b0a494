"""Runs ``ours.py``, ``second.py`` and ``third.py`` in forks of one process, because imports take most of the time of a case.

``forks.py SOCKET BREAK TASK ADDRESS`` runs a task of ``ours.py`` in the process that ``forks.py serve SOCKET`` has started;
without ``BREAK`` it is a task of ``second.py``, with ``third`` one of ``third.py``.
"""

from __future__ import annotations

import socket
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def ask(path: str, *arguments: str) -> int:
    """Return the exit status of a task, and print its errors."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        connection.sendall("\0".join(arguments).encode())
        connection.shutdown(socket.SHUT_WR)
        answer = b""
        while data := connection.recv(1 << 16):
            answer += data
    status, _, text = answer.decode().partition("\n")
    print(text, file=sys.stderr)
    return int(status or 9)


def serve(path: str) -> None:
    import os
    import signal

    import ours
    import second
    import third

    def run(given: list[str]) -> int:
        if given[0] == "third":
            return second.main(given[1:], third.Third)
        return second.main(given) if len(given) == 2 else ours.main(given)

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen(100)
        print("ready", flush=True)
        while True:
            connection, _ = listener.accept()
            if os.fork() == 0:
                _answer(connection, run)
            connection.close()


def _answer(connection: socket.socket, main: Callable[[list[str]], int]) -> None:
    """Do the task in this process, unless the asking process ends before."""
    import contextlib
    import io
    import os
    import select
    import threading
    import traceback

    arguments = b""
    while data := connection.recv(1 << 16):
        arguments += data
    poll = select.poll()
    poll.register(connection, select.POLLHUP | select.POLLERR)

    def watch() -> None:
        poll.poll()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
    status, text = 1, io.StringIO()
    with contextlib.redirect_stderr(text), contextlib.redirect_stdout(text):
        try:
            status = main(arguments.decode().split("\0"))
        except Exception:  # of any client; the status says that it failed
            traceback.print_exc()
    connection.sendall(f"{status}\n{text.getvalue()}".encode())
    os._exit(0)


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2])
    else:
        sys.exit(ask(*sys.argv[1:]))
