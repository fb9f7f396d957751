"""Reading and writing quantities, tables and words for people."""
