"""Bach, Heckerman and Horvitz (2006): Considering cost asymmetry in learning classifiers."""
