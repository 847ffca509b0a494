"""The bytes of a message version as data: unfolded, compared, and told apart by digests."""
