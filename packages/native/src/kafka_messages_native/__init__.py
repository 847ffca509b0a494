"""Native core of generated packages, which load it themselves."""

try:
    from ._core import FORMAT, Maker, Package, Plan, Reader, ReadMethod, WriteMethod, filled, use_maker
except ModuleNotFoundError as error:
    from ._absent import reason

    raise ImportError(reason()) from error

__all__ = ["FORMAT", "Maker", "Package", "Plan", "ReadMethod", "Reader", "WriteMethod", "filled", "use_maker"]
