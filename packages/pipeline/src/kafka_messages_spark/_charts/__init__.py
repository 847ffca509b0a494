"""Charts as SVG, without Spark: ``pictures`` has their data, ``svg`` draws them."""
