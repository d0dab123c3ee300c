"""Write sections for a terminal, as Markdown, LaTeX, HTML or figures."""
