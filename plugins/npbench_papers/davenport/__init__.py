"""Davenport, Baraniuk and Scott (2006): Controlling false alarms with support vector machines."""
