"""First words of a run or a sweep: its answer, its figures, its screen."""
