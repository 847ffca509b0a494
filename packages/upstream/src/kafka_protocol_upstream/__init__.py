"""Maintainers' tasks: imports from Kafka's releases, test vectors, and the release of this project.

The distribution is not published.
"""
