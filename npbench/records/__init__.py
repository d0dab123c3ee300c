"""Records on disk: their columns, where they come from, writing and reading them."""
