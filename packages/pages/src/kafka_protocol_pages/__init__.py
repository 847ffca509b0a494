"""The protocol as a static site: a page for each message, indexes, prose and a search.

Facts come from plans and annotation files, bytes from test vectors and captured conversations, and explanations of bytes
from the generated package. Templates only print what these modules compute:

* ``fields`` lists a message's fields by version, ``byte_view`` the layout of a version, ``inspector`` a sample with its span
  tree; ``samples`` selects samples, ``frames`` adds headers, ``recipes`` shows how to explain the same bytes.
* ``message`` combines these into the page of a message; ``indexes`` and ``examples`` cover all messages.
* ``prose_folder`` reads Markdown files with ``markdown``; ``prose`` arranges them by the links of ``docs/README.md``.
* ``site`` lists and renders the pages, ``search`` builds the search index, ``folder`` writes files.

To extend the site:

* Add a page to ``site.pages`` with a template; pages in ``NAVIGATION`` are linked from every page.
* Files in ``assets`` are copied. A page names its scripts in ``Page.scripts``; they define constants, because a page opened
  from a file cannot fetch data.
"""
