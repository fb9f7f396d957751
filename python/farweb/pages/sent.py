"""The normal form of an entry of a HAR: a request as recorded."""

from dataclasses import dataclass

REQUEST_HEADER_BYTES = 500
RESPONSE_HEADER_BYTES = 400
"""Headers that a file does not give: medians of open HARs."""


@dataclass
class Sent:
    """A request as recorded.

    Attributes:
        name: URL.
        host: Host and port of it.
        kind: html, css, script, font, image, json, xml, preflight, beacon or other.
        method: HTTP method.
        status: Of the response, 0 or below without one.
        protocol: h1, h2 or h3.
        is_secure: True for https.
        issue_ms: When the browser wanted it.
        queued_ms: How long the browser then held it back, connections apart.
        send_ms: When its first byte left.
        first_ms: First byte of the response.
        end_ms: Last byte of it.
        tcp_ms: TCP handshake, 0 without one.
        tls_ms: TLS handshake, 0 without one.
        connection: Id of the connection, empty where unknown.
        is_new: True for the first request of its connection.
        request_bytes: Header and body.
        response_bytes: Header and body as they were on the wire.
        redirect: Target of a redirect, or empty.
        initiator: URL of the request that caused it, empty where unknown.
        initiator_type: parser, script or another word of the exporter.
        gone: Why it is no request over the network, or empty.
        is_ahead: True for a fetch of a service worker that no request of the page waits for.
        is_pushed: True for a response that the server pushed.
        is_sized: False where the file has no size of the response.
        is_unpacked: True where its size is of the unpacked content, and it may have crossed packed.
        parents: Requests that it waited for, as tables of pages name them. Only farweb's own files say so.
        dependency: How that is known, in the same files.
        server_ms: Time of the server, in the same files.
    """

    name: str
    host: str
    kind: str
    method: str
    status: int
    protocol: str
    is_secure: bool
    issue_ms: float
    send_ms: float
    first_ms: float
    end_ms: float
    queued_ms: float = 0.0
    tcp_ms: float = 0.0
    tls_ms: float = 0.0
    connection: str = ""
    is_new: bool = False
    request_bytes: int = REQUEST_HEADER_BYTES
    response_bytes: int = RESPONSE_HEADER_BYTES
    redirect: str = ""
    initiator: str = ""
    initiator_type: str = ""
    gone: str = ""
    is_ahead: bool = False
    is_pushed: bool = False
    is_sized: bool = True
    is_unpacked: bool = False
    parents: str = ""
    dependency: str = ""
    server_ms: float | None = None

    def shift(self, ms: float) -> None:
        """Count its times from so much earlier, and from 0 at least."""
        for name in ("issue_ms", "send_ms", "first_ms", "end_ms"):
            setattr(self, name, max(0.0, getattr(self, name) + ms))

    @property
    def wait_ms(self) -> float:
        """From its sending to the first byte of the response."""
        return self.first_ms - self.send_ms
