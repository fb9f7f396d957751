"""What farweb's TCP and the kernel's are put through: applications, mishaps on the path, what must come of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from talks import Role, Talk, Way

RESPONSE = "28900 B"
"""Twenty segments, whether they hold 1448 B or 1460 B."""
LAST = 20

GET = [["write 300 B", "read end"]]
"""A client that asks and reads the answer to its end."""
ANSWER = [["read 300 B", f"write {RESPONSE}", "shutdown", "read end"]]
"""A server that answers, ends its stream, and stays until the client has closed."""
LONG_ANSWER = [["read 300 B", "write 1 MB", "shutdown", "read end"]]


@dataclass(frozen=True)
class Fates:
    """Packets of a direction to which something happened; `None` where that is left to chance."""

    dropped: tuple[str, ...] | None = ()
    late: tuple[str, ...] | None = ()
    twice: tuple[str, ...] | None = ()


@dataclass(frozen=True)
class Expected:
    """Expected outcome of a talk, besides that all bytes arrive."""

    up: Fates = Fates()
    down: Fates = Fates()
    again_by_client: int = 0
    """Segments that the client sends again, at least. More may be sent on a busy machine, where ACKs come late."""
    again_by_server: int = 0
    reset: bool = False
    """The connection ends by a reset."""
    window_shuts: Role | None = None
    """Who lets its window shut."""


class Scenario(NamedTuple):
    """A talk and its expected outcome."""

    talk: Talk
    expected: Expected = Expected()


def lost(
    *,
    up: str = "",
    down: str = "",
    client: list[list[str]] = GET,
    server: list[list[str]] = ANSWER,
    again: Role | None = None,
) -> Scenario:
    """Packets are lost, named as in `data 8..12, data 15`; `again` has to send as many segments again."""
    names = {"up": expand(up), "down": expand(down)}
    count = len(names["up"]) + len(names["down"])
    return Scenario(
        Talk(client, server, Way(drop=split(up)), Way(drop=split(down))),
        Expected(
            Fates(dropped=names["up"]),
            Fates(dropped=names["down"]),
            again_by_client=count if again == "client" else 0,
            again_by_server=count if again == "server" else 0,
        ),
    )


def late(*, up: str = "", down: str = "", by: str) -> Scenario:
    """Packets of a download arrive late, after others that were sent behind them."""
    up_way, down_way = (dict.fromkeys(split(names), by) for names in (up, down))
    return Scenario(
        Talk(GET, ANSWER, Way(late=up_way), Way(late=down_way)),
        Expected(Fates(late=expand(up)), Fates(late=expand(down))),
    )


def twice(*, up: str = "", down: str = "") -> Scenario:
    """Packets of a download arrive twice."""
    return Scenario(
        Talk(GET, ANSWER, Way(twice=split(up)), Way(twice=split(down))),
        Expected(Fates(twice=expand(up)), Fates(twice=expand(down))),
    )


def split(packets: str) -> tuple[str, ...]:
    """The items of a list such as `data 8..12, data 15`."""
    return tuple(filter(None, packets.split(", ")))


def expand(packets: str) -> tuple[str, ...]:
    """Single packets of such a list."""
    items = [(kind, numbers.split("..")) for kind, numbers in map(str.split, split(packets))]
    return tuple(f"{kind} {number}" for kind, ends in items for number in range(int(ends[0]), int(ends[-1]) + 1))


BY_CHANCE = Fates(dropped=None)

SCENARIOS: Mapping[str, Scenario] = {
    # Long talks come first: nothing waits for them at the end.
    "shut window of the client": Scenario(
        Talk([["write 300 B", "wait 8 s", "read end"]], LONG_ANSWER, kernel_receive_buffer=32_768),
        Expected(window_shuts="client"),
    ),
    "shut window of the server": Scenario(
        Talk([["write 1 MB", "shutdown", "read end"]], [["wait 8 s", "read end"]], kernel_receive_buffer=32_768),
        Expected(window_shuts="server"),
    ),
    "random losses": Scenario(Talk(GET, ANSWER, Way(loss=0.03), Way(loss=0.03)), Expected(BY_CHANCE, BY_CHANCE)),
    "small queue": Scenario(
        Talk(GET, LONG_ANSWER, down=Way(rate="10 Mbit/s", queue="12 packets")), Expected(down=BY_CHANCE)
    ),
    # Connecting and ending.
    "handshake": Scenario(Talk([["write 1 B", "read 1 B"]], [["read 1 B", "write 1 B", "read end"]])),
    "server closes": Scenario(Talk(GET, [["read 300 B", f"write {RESPONSE}"]])),
    "client half-closes": Scenario(
        Talk([["write 300 B", "shutdown", "read end"]], [["read end", "wait 200 ms", "write 100 kB"]])
    ),
    "server half-closes": Scenario(
        Talk([["read end", "wait 200 ms", "write 100 kB"]], [["write 300 B", "shutdown", "read end"]])
    ),
    "both close at once": Scenario(
        Talk(
            [["write 1 kB", "read 1 kB", "wait 100 ms", "shutdown", "read end"]],
            [["write 1 kB", "read 1 kB", "wait 100 ms", "shutdown", "read end"]],
        )
    ),
    # Slow enough that the kernel connects before farweb's SYN is there.
    "both connect at once": Scenario(Talk(GET, ANSWER, Way(delay="500 ms"), Way(delay="500 ms"), crossing=True)),
    "nobody listens": Scenario(Talk(GET, ANSWER, listening=False)),
    "client aborts": Scenario(
        Talk([["write 300 B", "read 10 kB", "abort"]], [["read 300 B", "write 20 kB", "read reset"]]),
        Expected(reset=True),
    ),
    "server aborts": Scenario(
        Talk([["write 300 B", "read reset"]], [["read 300 B", "write 20 kB", "wait 300 ms", "abort"]]),
        Expected(reset=True),
    ),
    "client closes unread": Scenario(
        Talk([["write 300 B", "wait 300 ms", "close"]], [["read 300 B", "write reset"]]), Expected(reset=True)
    ),
    # Much data.
    "download": Scenario(Talk(GET, LONG_ANSWER)),
    "upload": Scenario(Talk([["write 1 MB", "shutdown", "read end"]], [["read end", "write 300 B"]])),
    "both ways": Scenario(Talk([["write 1 MB", "shutdown"], ["read end"]], [["write 1 MB", "shutdown"], ["read end"]])),
    "losses both ways": lost(
        up="data 20..24, data 40, data 60..64",
        down="data 20..24, data 40, data 60..64",
        client=[["write 300 kB", "shutdown"], ["read end"]],
        server=[["write 300 kB", "shutdown"], ["read end"]],
    ),
    "a hundred requests": Scenario(
        Talk([["write 300 B", "read 2 kB"] * 100], [["read 300 B", "write 2 kB"] * 100 + ["read end"]])
    ),
    "idle between requests": Scenario(
        Talk(
            [["write 300 B", "read 20 kB", "wait 2 s", "write 300 B", "read end"]],
            [["read 300 B", "write 20 kB", "read 300 B", "write 20 kB", "shutdown", "read end"]],
        )
    ),
    "numbers wrap": Scenario(
        Talk(
            [["write 100 kB", "shutdown"], ["read end"]],
            [["write 100 kB", "shutdown"], ["read end"]],
            first_number=2**32 - 40_000,
        )
    ),
    # Losses.
    "SYN lost": lost(up="syn 1", again="client"),
    "SYN-ACK lost": lost(down="synack 1"),
    "last ACK of the handshake lost": lost(up="ack 1"),
    "request lost": lost(up="data 1", again="client"),
    "first segment lost": lost(down="data 1", again="server"),
    "eighth segment lost": lost(down="data 8", again="server"),
    "last segment lost": lost(down=f"data {LAST}", again="server"),
    "burst lost": lost(down="data 8..12", again="server"),
    "three holes": lost(down="data 6, data 8, data 10", again="server"),
    "tail lost": lost(down=f"data 14..{LAST}", again="server"),
    "ACKs lost": lost(up="ack 3..8"),
    "FIN of the server lost": lost(
        down="fin 1",
        server=[["read 300 B", f"write {RESPONSE}", "wait 400 ms", "shutdown", "read end"]],
        again="server",
    ),
    "FIN of the client lost": lost(
        up="fin 1",
        client=[["write 300 B", f"read {RESPONSE}", "shutdown", "read end"]],
        server=[["read 300 B", f"write {RESPONSE}", "read end"]],
        again="client",
    ),
    "losses of an upload": lost(
        up="data 5, data 30..33, data 50",
        client=[["write 100 kB", "shutdown", "read end"]],
        server=[["read end", "write 300 B"]],
        again="client",
    ),
    # Reordering and duplication.
    "SYN-ACK late": late(down="synack 1", by="1500 ms"),
    "a segment overtaken by one": late(down="data 8", by="1 ms"),
    "a segment overtaken by many": late(down="data 8", by="30 ms"),
    "segments in disorder": late(down="data 5, data 7, data 9, data 12", by="4 ms"),
    "ACKs in disorder": late(up="ack 3, ack 5", by="10 ms"),
    "handshake twice": twice(up="syn 1, ack 1, data 1", down="synack 1"),
    "segments twice": twice(down="data 1, data 5..9, data 20"),
    "all of the first hundred twice": Scenario(
        Talk(GET, LONG_ANSWER, Way(twice=("any 1..100",)), Way(twice=("any 1..100",))),
        Expected(Fates(twice=None), Fates(twice=None)),
    ),
}
