"""SVG charts without Spark: ``model`` has the data classes, ``svg`` draws them."""
