"""Descriptions of the data sets, by where they come from; none imports what reads or draws them."""
