"""Commands for the practitioner, ``threshold`` and ``monitor``; the only modules of this room that print and draw."""
