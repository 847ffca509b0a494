"""Message of the ImportError for a missing core."""

import platform
import sysconfig


def reason() -> str:
    """Return why the core is missing: this Python is unsupported, or the core was not built for it."""
    is_free_threaded = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
    implementation = platform.python_implementation()
    this = f"{'a free-threaded ' * is_free_threaded}{implementation} {platform.python_version()}"
    if is_free_threaded or implementation != "CPython":
        return f"the core requires CPython with the global interpreter lock; this is {this}"
    remedy = "install a C compiler, then reinstall this distribution with --force-reinstall --no-cache-dir"
    return f"kafka-messages-native was not built for this Python, {this}; {remedy}"
