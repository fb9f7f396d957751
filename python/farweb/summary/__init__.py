"""What a run or a sweep says first: its answer, its figures, its screen."""
