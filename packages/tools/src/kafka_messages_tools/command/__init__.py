"""The command ``kafka-messages``; ``main`` runs it. Modules of ``commands`` are imported on use."""

from __future__ import annotations

from ._main import main

__all__ = ["main"]
