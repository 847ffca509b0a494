"""Cases for clients: a task, a scripted server, and a judge of the bytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from .case import Case, rows

Task: TypeAlias = Literal["produce", "consume", "group", "transaction"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientCase(Case):
    """What a client must send while it does a task."""

    mode: ClassVar[str] = "client"
    task: Task
    judge: str
    """Function of a module ``client_judge…``."""
    server: str = ""
    """Function of ``client_server`` or ``client_log``; empty for a cluster without rules."""
    brokers: int = 1
    announces: str = ""
    """Release of Kafka whose APIs and versions the cluster has; empty for those of the newest release."""
    log: Sequence[Sequence[Sequence[str | int]]] = ()
    """Record batches that the cluster returns: see ``client_log.Stored``."""
    ends: Literal["success", "failure"] = "success"
    """How the command must end."""

    @property
    def partitions(self) -> int:
        return 2 if self.task == "transaction" else 1

    def description(self) -> list[str]:
        rules = self.server.replace("_", " ") or "no rules"
        server = f"{self.announces or 'newest release'}, {rules}" + (f", {self.brokers} brokers" * (self.brokers > 1))
        lines = Case.description(self)  # super() does not work in dataclasses with slots
        return [*lines, f"task      {self.task}", f"server    {server}", f"ends      with {self.ends}"]


def client_cases() -> Iterator[ClientCase]:
    """Yield the cases of ``cases/client.jsonl``."""
    for row in rows("client"):
        yield ClientCase(**row)
