"""``python -m kafka_protocol_upstream`` runs the command line."""

from kafka_protocol_upstream.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
