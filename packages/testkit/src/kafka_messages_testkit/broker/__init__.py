"""State and request handlers of the cluster: one module per family of APIs."""
