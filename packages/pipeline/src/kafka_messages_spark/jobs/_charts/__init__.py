"""Pictures of the jobs' pages: from data frames, of which a bounded number of rows is collected, to what is drawn.

Each picture says what it leaves out.
"""
