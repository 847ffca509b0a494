"""What every room stands on: errors, options, Spark's types of Arrow's, and the Python of Spark's workers."""
