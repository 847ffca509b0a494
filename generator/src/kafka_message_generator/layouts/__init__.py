"""The bytes of a message version as data: unfolded, compared, told apart by digests and by bytes that show it."""
