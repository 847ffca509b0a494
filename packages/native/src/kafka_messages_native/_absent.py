"""Message of the ImportError for a missing core. It imports only sys: each import of a package pays for it."""

import sys


def reason() -> str:
    """Return why the core is missing: this Python is unsupported, or the core was not built for it."""
    is_free_threaded = "free-threading build" in sys.version
    name = sys.implementation.name.replace("cpython", "CPython").replace("pypy", "PyPy")
    this = f"{'a free-threaded ' * is_free_threaded}{name} {sys.version.split()[0]}"
    if is_free_threaded or name != "CPython":
        return f"the core requires CPython with the global interpreter lock; this is {this}"
    remedy = "install a C compiler, then reinstall this distribution with --force-reinstall --no-cache-dir"
    return f"kafka-messages-native was not built for this Python, {this}; {remedy}"
