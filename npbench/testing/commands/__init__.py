"""Commands for the author of a plugin, ``new`` and ``check``; the only modules of this room that print."""
