"""Random mutants of our code, each of which some test must fail with: ``nox -s nightly -- mutations``."""
