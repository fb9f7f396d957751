"""`farweb workload merge`: merges request tables into one, and host tables into another."""

from collections.abc import Sequence
from pathlib import Path

from farweb.cli.verbs import Call, verb
from farweb.errors import WorkloadError


@verb("inputs.merge:merge_requests", tables="TABLE…", tags="--tag TAG=NUMBER")
def merge(call: Call, *, out: Path, hosts: Sequence[Path] = (), hosts_out: Path | None = None) -> None:
    """Merge request tables into one by start time, with a column for the day, and host tables into another.

    For a host in several tables the first one counts. Disagreements about MSS or window are listed.

    Args:
        out: The request table, a .parquet file.
        hosts: A host table; may be given more than once.
        hosts_out: The merged host table: .tsv, .csv or .parquet.

    Examples:

        farweb workload merge mon.parquet tue.parquet -o days.parquet

        farweb workload merge mon.parquet tue.parquet --tag sample=1 -o days.parquet
    """
    from rich.console import Group

    from farweb.inputs.merge import merge_hosts, merge_requests

    if bool(hosts) != (hosts_out is not None):
        raise WorkloadError("--hosts and --hosts-out belong together: the host tables to merge, and the file to write")
    call.takes(out, hosts_out)
    report = call.ask("merging", merge_requests, out=out)
    merged = merge_hosts(hosts, hosts_out) if hosts_out is not None else None
    parts = [report] if merged is None else [report, merged]
    call.says({**report.to_dict(), "hosts": merged and merged.to_dict()}, Group(*parts))
    call.wrote(report.out, "workload", "stats", report.out)
