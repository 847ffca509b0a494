"""``python -m kafka_message_generator`` runs the command line."""

from kafka_message_generator.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
