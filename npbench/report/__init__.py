"""Tables and figures made of stored records; nothing here runs a solver or looks at data."""
