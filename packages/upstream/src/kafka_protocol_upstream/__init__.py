"""Tasks of maintainers: definitions, history, vectors and tables from Kafka's releases, and the release of this project.

`python -m kafka_protocol_upstream` lists them. The distribution is not published.
"""
