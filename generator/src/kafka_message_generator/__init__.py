"""Offline generator: definitions to located nodes, checked, planned per version, printed as a typed package."""
