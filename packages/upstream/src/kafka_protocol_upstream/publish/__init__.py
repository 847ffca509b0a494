"""The release of this project: matching versions, contents of wheels, order of uploads."""
