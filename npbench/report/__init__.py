"""Tables and figures made of stored records, or of formulas; nothing here runs a solver or looks at data."""
