"""Files: writes them completely or not at all, names their columns, and reads Parquet."""
