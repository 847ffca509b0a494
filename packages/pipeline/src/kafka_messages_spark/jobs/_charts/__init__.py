"""Charts of the reports, from a bounded number of collected rows; remarks state what is omitted."""
