"""Array algorithms used by several methods; imports nothing else from npbench."""
