"""State of the cluster: topics and logs, groups, transactions."""
