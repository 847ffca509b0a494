"""The native core of generated packages. They find it themselves; nothing here has to be called."""

from ._core import FORMAT, Maker, Package, Plan, Reader, Writer, set_constructor

__all__ = ["FORMAT", "Maker", "Package", "Plan", "Reader", "Writer", "set_constructor"]
