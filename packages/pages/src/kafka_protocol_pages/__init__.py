"""The protocol as a static site: a page for each message, indexes, prose and a search.

* ``message`` builds the page of a message from ``fields``, ``byte_view`` (layouts) and ``inspector`` (samples).
* ``samples`` and ``traffic`` select samples, ``frames`` adds headers.
* ``indexes`` and ``examples`` cover all messages; ``prose_folder``, ``markdown`` and ``prose`` read Markdown.
* ``site`` lists and renders the pages, ``search`` builds the index, ``folder`` writes files.

To extend the site, add a page with a template to ``site.pages``, and to ``NAVIGATION`` to link it from every page.
Files in ``assets`` are copied; ``Page.scripts`` names the scripts of a page. Scripts define constants, because a page
opened from a file cannot fetch data.
"""
