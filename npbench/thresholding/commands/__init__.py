"""Commands for the practitioner: threshold, monitor, compare and fit; no other module of this room prints."""
