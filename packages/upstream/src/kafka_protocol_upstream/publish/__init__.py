"""The release of this project: versions, distributions, shell commands of the documentation, order of uploads."""
