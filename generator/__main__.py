"""``python -m generator`` runs the command line."""

from generator.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
