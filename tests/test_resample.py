"""A log drawn anew by each seed: clients or days, through the program."""

from pathlib import Path

import polars as pl
import pytest

from samples import Farweb, scenario_of

pytestmark = pytest.mark.usefixtures("warm_workers")

LEG = 'client server http/1.1\ntcp = { profile = "linux", mss = "1460 B" }'
SCENARIO = scenario_of("client server", "10 Mbit/s, 10 ms", legs=[LEG])


def scenario(folder: Path, rows: list[str], resample: str) -> Path:
    (folder / "requests.csv").write_text("\n".join(rows) + "\n")
    path = folder / "scenario.toml"
    path.write_text(f'{SCENARIO}resample = "{resample}"\n')
    return path


def requests(farweb: Farweb, path: Path, seed: int) -> pl.DataFrame:
    out = path.parent / f"run-{seed}"
    assert farweb("run", path, "--seed", str(seed), "--out", out, "--quiet").code == 0
    return pl.read_parquet(out / "requests.parquet")


def test_clients_come_with_all_their_requests(tmp_path: Path, farweb: Farweb) -> None:
    rows = ["start_s,host,request_bytes,response_bytes,client"]
    rows += [f"{time},a,300,{1000 + client},{client}" for time in (0, 60, 120) for client in range(200)]
    path = scenario(tmp_path, rows, "clients")
    found = requests(farweb, path, 1)
    times = found.group_by("response_bytes").len()
    assert (times["len"] % 3 == 0).all(), "a client is there with all three of its requests"
    assert len(times) < 200 < len(found["client"].unique()) + 60, "some are not there, others twice"
    assert (found["status"] == "done").all()
    assert len(requests(farweb, path, 2)) != len(found), "another seed draws others"


def test_days_are_drawn(tmp_path: Path, farweb: Farweb) -> None:
    rows = ["start_s,host,request_bytes,response_bytes,day"]
    rows += [f"0,a,300,{1000 * day},{day}" for day in range(1, 6)]
    path = scenario(tmp_path, rows, "days")
    sizes = {requests(farweb, path, seed)["response_bytes"].to_list()[0] for seed in range(1, 30)}
    assert sizes == {1000, 2000, 3000, 4000, 5000}


@pytest.mark.parametrize(
    ("resample", "problem"),
    [
        ("clients", "request 1 of the table names none"),
        ("days", "the table has one"),
        ("weeks", 'found "weeks"; it is one of "clients", "days"'),
    ],
)
def test_what_cannot_be_drawn_is_refused(tmp_path: Path, resample: str, problem: str, farweb: Farweb) -> None:
    path = scenario(tmp_path, ["start_s,host,request_bytes,response_bytes", "0,a,300,1000"], resample)
    out = tmp_path / "out"
    ended = farweb("run", path, "--out", out)
    assert ended.code == 2 and problem in ended.err
    assert not out.exists()


def test_a_family_has_no_need_of_it(tmp_path: Path, farweb: Farweb) -> None:
    path = tmp_path / "scenario.toml"
    path.write_text(SCENARIO.replace('requests = "requests.csv"', 'family = "nzix"') + 'resample = "clients"\n')
    ended = farweb("check", path)
    assert ended.code == 2 and "each seed of a family makes new requests" in ended.err


def test_clients_drawn_anew_make_replications_of_a_log(tmp_path: Path, farweb: Farweb) -> None:
    """Intervals of a log are of blocks; of its clients drawn anew, of replications, each paired by its requests."""
    rows = ["start_s,host,request_bytes,response_bytes,client"]
    rows += [f"{time},a,300,{1000 + 100 * client},{client}" for time in (0, 60, 120) for client in range(100)]
    path = scenario(tmp_path, rows, "clients")
    text = path.read_text()
    delays = '[sweep]\nreplications = 3\n[sweep.factors]\n"path.link.0.down.delay" = ["10 ms", "200 ms"]\n'
    for name, workload, interval_of in (
        ("drawn", text, "replications"),
        ("fixed", text.replace("resample", "# "), "blocks"),
    ):
        path.write_text(f"{workload}\n{delays}")
        assert farweb("sweep", path, "--out", tmp_path / name, "--quiet").code == 0
        (judged,) = farweb("show", tmp_path / name, "--json").json()["sweep"]["judged"]
        assert (judged["interval_of"], judged["overall"]) == (interval_of, "worse")
