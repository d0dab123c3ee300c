"""Commands about runs and the catalogue; those of ``thresholding`` and ``testing`` live with what they print."""
