"""Run mutants, and report which of them no test fails with.

python -m tests.mutations [--minutes 20] [--mutants N] [--seed N] [--parts rules,plan] [--report]

cosmic-ray makes the mutants and keeps their results in .work/mutations/session.sqlite; another run continues there, and
``--report`` only prints them. Everything runs in a copy of the checkout in .work/mutations/copy. The exit code is 1 if
less than 85 percent of the mutants were killed. Survivors in accepted.toml have a reason and do not count.
"""

from __future__ import annotations

import time
from argparse import ArgumentParser
from collections import Counter

from tests.mutations import coverage, mutants
from tests.mutations.copy import PARTS, WORK, update
from tests.mutations.report import text

# Percentage of mutants that tests must kill.
LEAST = 85


def main() -> int:
    parser = ArgumentParser(prog="python -m tests.mutations", description="Run random mutants.")
    parser.add_argument("--minutes", type=float, default=20, help="duration (default: 20)")
    parser.add_argument("--mutants", type=int, default=10_000, help="maximum number of mutants in the session")
    parser.add_argument("--seed", type=int, default=1, help="order of the mutants")
    parser.add_argument("--parts", default=",".join(PARTS), help="parts of the code, comma-separated")
    parser.add_argument("--report", action="store_true", help="only print the results of the session")
    options = parser.parse_args()
    end = time.monotonic() + 60 * options.minutes
    with mutants.session(WORK / "session.sqlite") as session:
        parts = [] if options.report else options.parts.split(",")
        if parts:
            update()
        while parts and time.monotonic() < end and session.num_results < options.mutants:
            done = Counter(mutants.part_of(item) for item, _ in session.completed_work_items)
            part = min(parts, key=lambda name: done[name])
            tests = coverage.read(part, end)
            item = mutants.choose(part, tests, options.seed, session) if tests else None
            if item is None:
                parts.remove(part)
                continue
            session.add_work_item(item)
            session.set_result(item.job_id, mutants.run(item, tests))
        report, rate = text(session)
        print(report)
        return rate < LEAST


if __name__ == "__main__":
    raise SystemExit(main())
