"""Commands for the practitioner: ``threshold``, ``monitor`` and ``fit``; no other module of this room prints."""
