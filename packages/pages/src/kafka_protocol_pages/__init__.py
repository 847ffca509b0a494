"""A protocol as a static site: a page for each message, indexes, documentation pages and a search.

* ``message`` builds the page of a message from ``fields``, ``byte_view`` (layouts) and ``inspector`` (sample bytes).
* ``samples`` selects the samples from test vectors and recorded connections, and adds lengths and headers.
* ``indexes`` and ``examples`` build the pages about all messages, and the search index; ``prose`` and ``markdown``
  build the documentation pages from Markdown.
* ``site`` lists and renders the pages, and writes the files.

To add a page, return it with its template from ``site.pages``; an entry in ``NAVIGATION`` links it from every page.
Files in ``assets`` are copied; ``Page.scripts`` names additional scripts of a page. Data is written as scripts that set
a global constant, because a page opened from a file cannot fetch data.
"""
