//! TLS or none by the value of a field: a scheme, a flag, a version of TLS, or a port of the server.

/// True for TLS, false for none; `None` for a value that says nothing. Of a list, as proxies make of `X-Forwarded-Proto`, the first entry is the
/// client's.
pub(super) fn is_secure(text: &[u8]) -> Option<bool> {
    let first = text.split(|byte| *byte == b',').next().unwrap_or_default().trim_ascii().to_ascii_lowercase();
    match first.as_slice() {
        b"https" | b"wss" | b"h2" | b"grpcs" | b"on" | b"true" | b"yes" | b"1" => Some(true),
        b"http" | b"ws" | b"h2c" | b"grpc" | b"off" | b"false" | b"no" | b"none" | b"0" => Some(false),
        // `TLSv1.2`, and Traefik's `1.2`.
        version
            if [&b"tls"[..], b"ssl", b"dtls", b"quic", b"1."]
                .iter()
                .any(|begin| version.starts_with(begin)) =>
        {
            Some(true)
        }
        _ => None,
    }
}

/// TLS or not by a server's port; any other port than these two says nothing.
pub(super) const fn is_port_secure(text: &[u8]) -> Option<bool> {
    match text {
        b"443" => Some(true),
        b"80" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemes_flags_and_versions_say_it() {
        for text in ["https", "WSS", "https, http", "on", "true", "1", "TLSv1.2", "TLS 1.3", "SSLv3", "1.3"] {
            assert_eq!(is_secure(text.as_bytes()), Some(true), "{text}");
        }
        for text in ["http", "ws", "http,https", "off", "False", "0", "None"] {
            assert_eq!(is_secure(text.as_bytes()), Some(false), "{text}");
        }
        for text in ["maybe", "ftp", "2", "SSH"] {
            assert_eq!(is_secure(text.as_bytes()), None, "{text}");
        }
        assert_eq!(
            ["443", "80", "8443"].map(|port| is_port_secure(port.as_bytes())),
            [Some(true), Some(false), None]
        );
    }
}
