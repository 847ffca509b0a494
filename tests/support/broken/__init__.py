"""Broken definitions, at least one for each thing the generator refuses or warns of."""

from tests.support.broken.case import Case
from tests.support.broken.members import FIELDS, STRUCTS
from tests.support.broken.naming import MESSAGES, NAMES
from tests.support.broken.proposals import PROPOSALS
from tests.support.broken.reading import READER

CASES: tuple[Case, ...] = (*READER, *NAMES, *MESSAGES, *FIELDS, *STRUCTS, *PROPOSALS)
