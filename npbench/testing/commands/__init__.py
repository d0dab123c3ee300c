"""Commands for the author of a plugin: ``new`` and ``check``; no other module of this room prints."""
