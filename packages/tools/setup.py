"""Build of the completion scripts, so that shtab is not needed at run time."""

import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithCompletions(build_py):
    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        sys.path.insert(0, str(Path(__file__).parent / "src"))
        from kafka_messages_tools.command._completions import SHELLS, printed

        folder = Path(self.build_lib, "kafka_messages_tools", "command", "completions")
        folder.mkdir(parents=True, exist_ok=True)
        for shell in SHELLS:
            (folder / shell).write_text(printed(shell), encoding="utf-8", newline="\n")


setup(cmdclass={"build_py": BuildWithCompletions})
