"""Jobs to records: one loop, and worker processes of this machine."""
