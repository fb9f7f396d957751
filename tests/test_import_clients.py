"""Clients of imports: pseudonyms by a key, names as logged, and those behind a proxy."""

import hashlib
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from farweb import object_ids
from farweb.inputs.tables import open_requests
from samples import CLF, Farweb


def siphash(key: bytes, text: bytes) -> int:
    """SipHash-2-4, step by step as its paper has it."""
    mask = 2**64 - 1
    low, high = (int.from_bytes(key[i : i + 8], "little") for i in (0, 8))
    v = [low ^ 0x736F6D6570736575, high ^ 0x646F72616E646F6D, low ^ 0x6C7967656E657261, high ^ 0x7465646279746573]

    def rotate(number: int, by: int) -> int:
        return (number << by | number >> (64 - by)) & mask

    def rounds(times: int) -> None:
        for _ in range(times):
            for a, b, c, d, one, other in ((0, 1, 2, 3, 13, 16), (2, 1, 0, 3, 17, 21)):
                v[a] = (v[a] + v[b]) & mask
                v[c] = (v[c] + v[d]) & mask
                v[b], v[d] = rotate(v[b], one) ^ v[a], rotate(v[d], other) ^ v[c]
                v[a] = rotate(v[a], 32)

    padded = text + bytes(7 - len(text) % 8) + bytes([len(text) % 256])
    for i in range(0, len(padded), 8):
        word = int.from_bytes(padded[i : i + 8], "little")
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 0xFF
    rounds(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def clients_of(farweb: Farweb, *options: str) -> tuple[list[Any], dict[str, Any]]:
    """The clients of the requests that an import writes, and its report."""
    answer = farweb("workload", "import", *options, "--json", "--force", "-o", "out.parquet")
    assert answer.code == 0, answer.err
    return pq.read_table("out.parquet")["client"].to_pylist(), answer.json()


def test_clients_get_pseudonyms_by_a_key(farweb: Farweb, folder: Path) -> None:
    (folder / "access.log").write_text(CLF)
    names = [line.split()[0] for line in CLF.splitlines()]
    first, report = clients_of(farweb, "access.log")
    assert [first.index(client) for client in first] == [names.index(name) for name in names]
    assert (report["log"]["client_names"], report["log"]["client_key"]) == ("pseudonyms", "log")
    assert report["with_client"] == 4
    assert clients_of(farweb, "access.log")[0] == first, "a key of the log"
    (folder / "longer.log").write_text(CLF + CLF.splitlines()[0] + "\n")
    assert not set(clients_of(farweb, "longer.log")[0]) & set(first), "another log, another key"
    given, report = clients_of(farweb, "access.log", "--client-key", "of 2015")
    content = (folder / "out.parquet").read_bytes()
    assert report["log"]["client_key"] == "given"
    assert b"of 2015" not in content
    assert clients_of(farweb, "access.log", "--client-key", "of 2015")[0] == given
    assert (folder / "out.parquet").read_bytes() == content, "the same input and key give the same bytes"
    assert not set(clients_of(farweb, "access.log", "--client-key", "of 2016")[0]) & set(given)
    key = hashlib.blake2b(b"of 2015", digest_size=16, person=b"farweb clients").digest()
    assert given == [siphash(key, name.encode()) for name in names]


def test_rotated_logs_keep_pseudonyms_with_one_key(farweb: Farweb, folder: Path) -> None:
    lines = CLF.splitlines(keepends=True)
    (folder / "one.log").write_text("".join(lines[:2]))
    (folder / "two.log").write_text("".join(lines[2:]))
    (folder / "access.log").write_text(CLF)
    whole, _ = clients_of(farweb, "access.log", "--client-key", "k")
    one, two = (clients_of(farweb, f"{name}.log", "--client-key", "k")[0] for name in ("one", "two"))
    assert one + two == whole
    together, _ = clients_of(farweb, "one.log", "two.log")
    names = [line.split()[0] for line in lines]
    assert [together.index(each) for each in together] == [names.index(name) for name in names], "one key an import"


def test_clients_are_kept_as_logged_on_demand(farweb: Farweb, folder: Path) -> None:
    lines = CLF.splitlines(keepends=True)
    lines[1] = lines[1].replace(lines[1].split()[0], "-", 1)
    (folder / "access.log").write_text("".join(lines))
    names = [None if line.startswith("- ") else line.split()[0] for line in lines]
    kept, report = clients_of(farweb, "access.log", "--keep-clients")
    assert kept == names
    assert (report["log"]["client_names"], "client_key" in report["log"]) == ("as-logged", False)
    assert (report["with_client"], report["requests"]) == (3, 4)
    with open_requests(Path("out.parquet")) as table:
        columns = next(iter(table.core))
    assert np.asarray(columns["client"]).tolist() == [
        2**64 - 1 if name is None else object_ids([name])[0] for name in names
    ]
    answer = farweb("workload", "import", "access.log", "--force", "-o", "out.parquet", "--keep-clients", "--explain")
    assert re.search(r"requests without a client\s+clients are named as in the log\s+1\b", answer.out)
    answer = farweb("workload", "import", "access.log", "--keep-clients", "--client-key", "k", "-o", "x.parquet")
    assert (answer.code, answer.err.count("\n")) == (2, 1)


def test_a_log_without_clients_gives_a_table_without_the_column(farweb: Farweb, folder: Path) -> None:
    (folder / "access.log").write_text(re.sub(r"(?m)^\S+", "-", CLF))
    for options in ((), ("--keep-clients",)):
        answer = farweb("workload", "import", "access.log", "--json", "--force", "-o", "out.parquet", *options)
        assert answer.json()["with_client"] == 0
        assert "client" not in pq.read_schema("out.parquet").names


def test_the_client_behind_a_proxy(farweb: Farweb, folder: Path) -> None:
    line = '10.0.0.1 [25/Oct/2015:04:00:0{} +0100] "GET /a HTTP/1.1" 200 1000 "{}"\n'
    forwarded = ["203.0.113.9, 10.0.0.2", "-", "203.0.113.10"]
    (folder / "nginx.log").write_text("".join(line.format(i, each) for i, each in enumerate(forwarded)))
    string = '$remote_addr [$time_local] "$request" $status $bytes_sent'
    options = ("nginx.log", "--keep-clients", "--client-from-forwarded", "--log-format")
    found, report = clients_of(farweb, *options, f'{string} "$http_x_forwarded_for"')
    assert found == ["203.0.113.9", "10.0.0.1", "203.0.113.10"]
    assert report["log"]["client_from_forwarded"] is True
    answer = farweb("workload", "import", *options, string, "-o", "none.parquet")
    assert (answer.code, answer.err.count("\n"), (folder / "none.parquet").exists()) == (2, 1, False)
    assert f"nginx.log: has no field X-Forwarded-For; its fields are {string}" in answer.err
