"""One job becomes one record. Everything that can change an answer is here, in the solver, or in what they import."""
