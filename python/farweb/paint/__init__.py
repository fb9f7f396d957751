"""Painting: a figure is a description, its painter is matplotlib, its page is HTML."""
