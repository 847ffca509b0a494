"""Broken definitions, at least one for each error and warning."""

from tests.support.broken.case import Case
from tests.support.broken.members import FIELDS, STRUCTS
from tests.support.broken.naming import MESSAGES, NAMES
from tests.support.broken.proposals import PROPOSALS
from tests.support.broken.reading import READER

CASES: tuple[Case, ...] = (*READER, *NAMES, *MESSAGES, *FIELDS, *STRUCTS, *PROPOSALS)
