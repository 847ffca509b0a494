"""Command line, capture reader and Wireshark dissector for any generated package."""
