"""Requests and data identities to jobs: what is to be done, and what it will take."""
