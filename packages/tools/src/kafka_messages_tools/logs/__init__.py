"""Files of a broker's log directory: records and batches as rows, entries of index files, aborted transactions."""
