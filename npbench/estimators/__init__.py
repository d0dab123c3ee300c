"""What estimators share: labels, decisions, linear scores, kernel expansions. Anyone's plugin may build on it."""
