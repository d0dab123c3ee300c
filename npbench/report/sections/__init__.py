"""The sections of a report, as tables and charts."""
