"""``python -m kafka_protocol_pages`` runs the command line."""

from kafka_protocol_pages.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
