"""From words to checked requests; the only room that imports Hydra."""
