"""``python -m kafka_conformance`` is the command ``kafka-conformance``."""

from __future__ import annotations

import sys

from .command import main

sys.exit(main())
