"""Files, whole or not there at all: how they are written, their columns, and how Parquet is read."""
