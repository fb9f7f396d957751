"""Errors that a user can put right; every message says what to do."""

from farweb._core import FarwebError, RunError, ScenarioError, WorkloadError

__all__ = ["FarwebError", "ResultsError", "RunError", "ScenarioError", "StorageError", "WorkloadError"]


class ResultsError(FarwebError):
    """A results folder cannot be used, or lacks a table; the message names the folder and what to do."""


class StorageError(RunError):
    """A place cannot be written to or read from: the machine has to be put right, and every run would fail there."""
