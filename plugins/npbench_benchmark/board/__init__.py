"""The board of the benchmark: splits for other programs, submissions, and their verification."""
