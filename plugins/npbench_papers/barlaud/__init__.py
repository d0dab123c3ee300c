"""Barlaud, Belhajali, Combettes and Fillatre (2015): Classification by outer-approximation splitting."""
