"""From checked definitions to per-version wire layouts."""
