"""A protocol as a static site: a page for each message, indexes, documentation pages and a search.

* ``message`` builds the page of a message from ``fields``, ``byte_view`` (layouts) and ``inspector`` (sample bytes).
* ``samples`` and ``traffic`` select the samples, ``frames`` adds lengths and headers.
* ``indexes`` and ``examples`` build the pages about all messages; ``prose_folder``, ``markdown`` and ``prose`` build
  the documentation pages from Markdown.
* ``site`` lists and renders the pages, ``search`` builds the search index, ``folder`` writes the files.

To add a page, return it with its template from ``site.pages``; an entry in ``NAVIGATION`` links it from every page.
Files in ``assets`` are copied; ``Page.scripts`` names additional scripts of a page. Data is written as scripts that set
a global constant, because a page opened from a file cannot fetch data.
"""
