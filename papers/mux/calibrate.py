"""Fit how fast programs wake to the 55 packets that the client sends in the page's second run.

    python papers/mux/calibrate.py

The rule, written before it was run: the page does not say how fast its programs wake, and that decides how many grants
there are. From 50 us to 5 ms in steps of 50 us, the time taken is the one whose run of the second experiment (MUX,
credits of 4096 B) has as many packets from the client as the page, 55, or else comes nearest; of several the middle.
Packets are of the whole connection. Nothing else is touched. The other five counts are predictions.
"""

import tempfile
from pathlib import Path

from farweb import Scenario

EXPERIMENTS = Path(__file__).with_name("experiments.toml")
LARGE = {"kind": "webmux", "credit": "4096 B", "write_buffer": "8192 B", "fragment": "512 B"}
UP = 55
WAKES_US = range(50, 5001, 50)


def sent_up(wake_us: int) -> int:
    """Packets from the client, with programs that wake in so many us."""
    scenario = Scenario.load(EXPERIMENTS).without_sweep()
    scenario = scenario.with_({"leg.0.application.wake": f"{wake_us} us", "leg.0.carrier": LARGE})
    with tempfile.TemporaryDirectory() as folder:
        packets = scenario.run(1, Path(folder) / "results").packets
        rows = packets.select("event", "direction").rows()
        return sum(row == ("send", "up") for row in rows)


def main() -> None:
    """Print the counts, and the time that is taken."""
    counts = {wake: sent_up(wake) for wake in WAKES_US}
    for wake, count in counts.items():
        print(f"{wake:5} us  {count} packets from the client")
    nearest = min(abs(count - UP) for count in counts.values())
    meeting = [wake for wake, count in counts.items() if abs(count - UP) == nearest]
    print(f"taken: {meeting[len(meeting) // 2]} us, of {meeting}")


if __name__ == "__main__":
    main()
