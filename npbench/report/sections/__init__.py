"""Sections of a report: tables and charts."""
