"""Analyses of Kafka files and captures, as functions on data frames."""
