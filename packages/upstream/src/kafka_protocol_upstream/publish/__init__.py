"""The release of this project: versions that fit, wheels and what they hold, the order of uploads."""
