"""Whose hosts a page asks: its own, or those of others."""

import re

from farweb._core import Recording

_SECOND_LEVEL = {"ac", "co", "com", "edu", "gob", "gov", "go", "gv", "ne", "net", "nom", "or", "org"}
"""Labels below a country's that registrars sell names under. Chosen: the common ones of the public suffix list."""
_ADDRESS = re.compile(r"[\d.]+|\[.*\]")


def own_hosts(recording: Recording) -> set[str]:
    """Hosts of a page under the name that its document's host was registered by, and those on its connections.

    A site's content on names of others counts as theirs, such as a CDN's.
    """
    root = recording.root
    name, origin = registered(recording.sent[root].host), recording.origins[root]
    return {
        sent.host
        for sent, of in zip(recording.sent, recording.origins, strict=True)
        if registered(sent.host) == name or of == origin
    }


def registered(host: str) -> str:
    """The name that a host was registered by: two labels, or three below a country's second level."""
    name = re.sub(r":\d+$", "", host).rstrip(".")
    labels = name.split(".")
    if _ADDRESS.fullmatch(name) or len(labels) < 3:
        return name
    return ".".join(labels[-3:] if len(labels[-1]) == 2 and labels[-2] in _SECOND_LEVEL else labels[-2:])
