"""The release of this project: versions, contents of wheels, order of uploads."""
