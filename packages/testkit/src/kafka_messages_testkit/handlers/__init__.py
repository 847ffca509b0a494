"""Handlers of requests: one module per family of APIs, each a function with the name of its API."""
