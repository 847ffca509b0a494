"""Why the core is not beside this file, for whoever asks a package for the native rendering."""

import platform
import sysconfig


def reason() -> str:
    """One clause that names this Python: where the core cannot run it was not built, and else it is for another one."""
    is_free_threaded = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
    implementation = platform.python_implementation()
    this = f"{'a free-threaded ' * is_free_threaded}{implementation} {platform.python_version()}"
    if is_free_threaded or implementation != "CPython":
        return f"the core runs on CPython with the global interpreter lock, and this is {this}"
    return f"kafka-messages-native was not built for this Python, {this}; install it anew"
