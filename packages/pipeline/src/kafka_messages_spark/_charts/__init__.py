"""SVG charts, independent of Spark."""
