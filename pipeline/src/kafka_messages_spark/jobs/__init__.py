"""Programs for ``spark-submit`` and ``python -m``; each has ``main(argv)``."""
