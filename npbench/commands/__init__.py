"""The commands of ``npbench``, one module each; the only room that prints."""
