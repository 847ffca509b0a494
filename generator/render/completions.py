"""Completion scripts for bash, zsh and fish, printed from the tables of the command."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kafka_message_generator.runtime.command._options import COMMON, Command, Option
from kafka_message_generator.runtime.command._table import VERBS

SHELLS = ("bash", "zsh", "fish")


@dataclass(frozen=True)
class Verb:
    """A subcommand as a script needs it."""

    name: str
    about: str
    command: Command

    @property
    def options(self) -> tuple[Option, ...]:
        return (*self.command.options, *COMMON)

    def words(self, place: int, messages: str, errors: str) -> str | None:
        """What may stand at a place behind the subcommand; None for files."""
        arguments = self.command.arguments
        last = arguments[-1:] if arguments and arguments[-1].is_repeated else ()
        argument = next(iter((*arguments[place : place + 1], *last)), None)
        kinds = {"message": messages, "error": errors, "shell": " ".join(SHELLS), "": ""}
        return "" if argument is None else kinds.get(argument.completes)


def scripts(program: str, parts: Iterable[str], messages: Sequence[str], errors: Sequence[str]) -> dict[str, str]:
    """The script of each shell for a program whose package has these parts, messages and error codes."""
    there = frozenset(parts)
    verbs = [Verb(each.name, each.about, each.load()) for each in VERBS if there.issuperset(each.parts)]
    names = " ".join(messages), " ".join(errors)
    return {
        "bash": _bash(program, verbs, *names),
        "zsh": f"autoload -U +X bashcompinit && bashcompinit\n{_bash(program, verbs, *names)}",
        "fish": _fish(program, verbs, *names),
    }


def _bash(program: str, verbs: Sequence[Verb], messages: str, errors: str) -> str:
    function = "_" + re.sub(r"\W", "_", program)
    lines = [
        f"# Completion of {program}; written by the Kafka message generator.",
        f"{function}() {{",
        "  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} verb=${COMP_WORDS[1]}",
        f"  local messages='{messages}'",
        f"  local errors='{errors}'",
        "  local words='' place=0 at",
        "  for ((at = 2; at < COMP_CWORD; at++)); do",
        '    case "${COMP_WORDS[at]}" in -*) ;; *) place=$((place + 1)) ;; esac',
        "  done",
        "  if ((COMP_CWORD == 1)); then",
        f"    words='{' '.join(verb.name for verb in verbs)} --help --version'",
        '  elif [[ "$current" == -* ]]; then',
        '    case "$verb" in',
    ]
    for verb in verbs:
        lines.append(f"      {verb.name}) words='{' '.join(f'--{option.name}' for option in verb.options)}' ;;")
    lines += ["    esac", "  else", '    case "$verb $before $place" in']
    for verb in verbs:
        for option in verb.options:
            if option.choices:
                lines.append(f"      '{verb.name} --{option.name} '*) words='{' '.join(option.choices)}' ;;")
        for place in range(3):
            words = verb.words(place, "$messages", "$errors")
            if words is None:
                lines.append(f"      '{verb.name} '*' {place}') COMPREPLY=($(compgen -f -- \"$current\")); return ;;")
            elif words:
                lines.append(f"      '{verb.name} '*' {place}') words=\"{words}\" ;;")
    lines += [
        "    esac",
        "  fi",
        '  COMPREPLY=($(compgen -W "$words" -- "$current"))',
        "}",
        f"complete -o filenames -F {function} {program}",
    ]
    return "\n".join(lines) + "\n"


def _fish(program: str, verbs: Sequence[Verb], messages: str, errors: str) -> str:
    names = " ".join(verb.name for verb in verbs)
    lines = [f"# Completion of {program}; written by the Kafka message generator.", f"complete -c {program} -f"]
    none = f"'not __fish_seen_subcommand_from {names}'"
    for verb in verbs:
        lines.append(f"complete -c {program} -n {none} -a {verb.name} -d '{verb.about}'")
        seen = f"'__fish_seen_subcommand_from {verb.name}'"
        for option in verb.options:
            choices = f" -x -a '{' '.join(option.choices)}'" if option.choices else " -x" if option.metavar else ""
            about = option.about.replace("'", "\\'")
            lines.append(f"complete -c {program} -n {seen} -l {option.name}{choices} -d '{about}'")
        kinds = {argument.completes for argument in verb.command.arguments}
        for kind, words in (("message", messages), ("error", errors), ("shell", " ".join(SHELLS))):
            if kind in kinds:
                lines.append(f"complete -c {program} -n {seen} -a '{words}'")
        if "file" in kinds:
            lines.append(f"complete -c {program} -n {seen} -F")
    return "\n".join(lines) + "\n"
