"""`farweb verify`: checks that results are as they were written."""

from farweb.cli.verbs import Call, verb

_DAMAGED = 4


@verb("results.integrity:verify", writes=False, path="RESULTS")
def verify(call: Call, path: str) -> int:
    """Check that results are as they were written, and name each file that is missing or damaged.

    The exit code is 0 when all is whole, 4 when something is missing or damaged, a manifest included, 2 when there are
    no results, and 3 when the place cannot be read. The command that made the results repairs them. A sweep repeats
    only the damaged runs.

    Args:
        path: The results folder of a run or a sweep; of a sweep also a URL.

    Examples:

        farweb verify results/cable

        farweb verify results/sweep --full
    """
    from farweb.results.integrity import verify as checked

    found = call.ask("checking", checked, path)
    if call.as_json or not call.is_quiet or not found.whole:
        call.result(found.to_dict(), found.text)
    return 0 if found.whole else _DAMAGED
