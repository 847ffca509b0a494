"""What maintainers run: definitions, history, vectors and tables from Kafka's releases, and the release of this project.

`python -m kafka_protocol_upstream` lists the tasks. It is not published.
"""
