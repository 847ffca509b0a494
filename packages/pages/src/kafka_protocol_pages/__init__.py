"""The protocol as a static site: a page for each message, indexes across all of them, and a search.

Knowledge comes from the plans and from what stands beside the definitions; bytes come from test vectors, and what each
byte is from the generated package, which is imported for that. Templates print what the modules here decided:

* ``fields`` has a message's fields version by version, ``byte_view`` the layout of one version, ``inspector`` a sample in hex
  with its tree, ``samples`` the choice of the sample, ``frames`` what stands before it on a connection, and ``recipes`` how
  a reader gets the same;
* ``message`` puts these together as the page of a message, ``indexes`` and ``examples`` are about all of them;
* ``prose_folder`` reads a folder of prose by ``markdown``, ``prose`` has what is shown of it; its contents are the
  links of ``docs/README.md``, so there is no other list;
* ``site`` lists the pages and renders them, ``search`` what the search box looks through, ``folder`` writes files.

Where more goes:

* A page is an entry in the list that ``site.pages`` makes, with a template of its own; what ``NAVIGATION`` names there is
  linked from every page.
* Each file in ``assets`` is copied as it is. A page that needs a script of its own names it in ``Page.scripts``; scripts
  are loaded as ``<script src>`` and set constants, because a page that is opened from a file may not fetch anything.
* A release that brought a version is one more line of ``message.Part``.
"""
