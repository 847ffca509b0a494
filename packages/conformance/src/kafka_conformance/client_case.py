"""Cases for clients: a task, a scripted server, and a judge of the bytes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeAlias

from .case import Case, rows

Task: TypeAlias = Literal["produce", "consume", "group", "transaction"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientCase(Case):
    """What a client must send while it does a task."""

    mode: ClassVar[str] = "client"
    task: Task
    judge: str
    """Function of a module ``client_judge…``."""
    script: str = ""
    """Function of ``client_scripts`` that makes rules; empty for none."""
    rules: Sequence[tuple[str, str, Any]] = ()
    """API, method of ``Trigger`` and its argument, for the first request of this API, the second one, and so on."""
    brokers: int = 1
    release: str = ""
    """Release of Kafka whose APIs and versions the cluster has; empty for the newest."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Release whose versions a broker announces although it has more, by node id; ``*`` for all brokers."""
    records: int = 0
    log: Sequence[Sequence[Sequence[str | int]]] = ()
    """Responses to Fetch: record batches, see ``client_log.Stored``."""
    ends: Literal["success", "failure"] = "success"
    """How the command must end."""

    @property
    def partitions(self) -> int:
        return 2 if self.task == "transaction" else 1

    def description(self) -> list[str]:
        parts = [self.script.replace("_", " "), *(f"{name}: {how} {value}" for name, how, value in self.rules)]
        server = ", ".join([f"Kafka {self.release or 'of the newest release'}", *(each for each in parts if each)])
        lines = Case.description(self)  # super() does not work in dataclasses with slots
        return [*lines, f"task      {self.task}", f"server    {server}", f"ends      with {self.ends}"]


def client_cases() -> Iterator[ClientCase]:
    """Yield the cases of ``cases/client.jsonl``."""
    for row in rows("client"):
        yield ClientCase(**row)
