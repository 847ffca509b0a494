"""What printed code calls: bytes, arrays, collections, the small pieces of a class. It knows no message."""
