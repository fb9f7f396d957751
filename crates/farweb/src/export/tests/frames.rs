//! Frames in payload: from rows made by hand, cut into packets anyhow.

use super::*;
use crate::http::webmux::{self, Control, HTTP, Layout};
use crate::record::{FrameKind, FrameProtocol};
use proptest::prelude::*;

fn words(codes: &[i32], words: &[&str]) -> Words {
    Words { codes: codes.to_vec(), words: words.iter().map(ToString::to_string).collect() }
}

/// A client's preface and SETTINGS, a request, and a response of two frames, as the frame table has them.
fn rows() -> Frames {
    let kinds =
        [FrameKind::Settings, FrameKind::Headers, FrameKind::Headers, FrameKind::Data, FrameKind::Data];
    Frames {
        connection: vec![0; 5],
        direction: words(&[0, 0, 1, 1, 1], &["up", "down"]),
        seq: vec![1, 40, 1, 30, 539],
        protocol: words(&[FrameProtocol::Http2 as i32; 5], &FrameProtocol::NAMES),
        kind: words(&kinds.map(|kind| kind as i32), &FrameKind::NAMES),
        stream: vec![NULL_INT, 1, 1, 1, 1],
        framing_bytes: vec![24 + 9 + 6, 9 + 20, 9 + 20, 9, 9],
        data_bytes: vec![0, 0, 0, 500, 100],
        ends: vec![false, true, false, false, true],
        credit_bytes: vec![1 << 20, NULL_INT, NULL_INT, NULL_INT, NULL_INT],
        frame_bytes_max: vec![16_384, NULL_INT, NULL_INT, NULL_INT, NULL_INT],
        streams_max: vec![NULL_INT; 5],
    }
}

/// Frames of a client of W3C MUX, one behind the other: a SYN, a request of 301 B, two grants, FIN and RST.
fn mux_rows(layout: Layout) -> (Frames, Vec<webmux::Frame>) {
    let grant = |bytes| webmux::Frame::Control(Control::AddCredit { session: 3, bytes });
    let frames = vec![
        webmux::Frame::open(3, HTTP),
        webmux::Frame::fragment(3, 301),
        grant(4095),
        grant(300_000),
        webmux::Frame::end(3, false),
        webmux::Frame::end(255, true),
    ];
    let kinds = [
        FrameKind::Syn,
        FrameKind::Fragment,
        FrameKind::AddCredit,
        FrameKind::AddCredit,
        FrameKind::Fin,
        FrameKind::Rst,
    ];
    let protocol = if layout == Layout::Y1996 { FrameProtocol::Mux1996 } else { FrameProtocol::Mux1998 };
    let framing: Vec<i64> =
        frames.iter().map(|frame| (frame.header(layout) + frame.padding(layout)) as i64).collect();
    let data: Vec<i64> = frames.iter().map(|frame| frame.payload().into()).collect();
    let sizes = framing.iter().zip(&data).map(|(framing, data)| framing + data);
    let seq = sizes.scan(1, |next, size| Some(std::mem::replace(next, *next + size))).collect();
    let rows = Frames {
        connection: vec![0; 6],
        direction: words(&[0; 6], &["up"]),
        seq,
        protocol: words(&[protocol as i32; 6], &FrameProtocol::NAMES),
        kind: words(&kinds.map(|kind| kind as i32), &FrameKind::NAMES),
        stream: vec![3, 3, 3, 3, 3, 255],
        framing_bytes: framing,
        data_bytes: data,
        ends: vec![false, false, false, false, true, false],
        credit_bytes: vec![NULL_INT, NULL_INT, 4095, 300_000, NULL_INT, NULL_INT],
        frame_bytes_max: vec![NULL_INT; 6],
        streams_max: vec![NULL_INT; 6],
    };
    (rows, frames)
}

/// The bytes of a direction between two sequence numbers, in packets of up to `mss` bytes.
fn stream(rows: &Frames, up: bool, from: u64, to: u64, mss: u32) -> Vec<u8> {
    let mut capture = Pcapng::new(route(), vec![Point::End(0)], Payload::Whole);
    capture.add_frames(rows).expect("rows of a frame table");
    let mut bytes = Vec::new();
    for seq in (from..to).step_by(mss as usize) {
        let len = u64::from(mss).min(to - seq) as u32;
        let seen = segment(ACK, seq, 1, len);
        let seen = if up { sent(seen) } else { received(seen) };
        let mut file = Vec::new();
        capture.add(&packets(&[seen]), &mut file).expect("a row of a packet table");
        // The block's header has 28 B, the packet's 40 B.
        bytes.extend_from_slice(&file[68..68 + len as usize]);
    }
    bytes
}

#[test]
fn a_request_stands_in_the_payload() {
    let bytes = stream(&rows(), true, 1, 69, 1460);
    assert_eq!(bytes[..24], *b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    assert_eq!(bytes[24..39], [0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 4, 0, 16, 0, 0]);
    assert_eq!(bytes[39..48], [0, 0, 20, 1, 5, 0, 0, 0, 1], "HEADERS that end the stream");
    assert_eq!(bytes[48..53], [0x82, 0x86, 4, 1, b'/']);
}

#[test]
fn frames_of_mux_stand_in_the_payload() {
    for layout in [Layout::Y1996, Layout::Y1998] {
        let (rows, frames) = mux_rows(layout);
        let end = rows.seq[5] + rows.framing_bytes[5];
        for mss in [1, 7, 512] {
            let mut bytes = &stream(&rows, true, 1, end as u64, mss)[..];
            for frame in &frames {
                assert_eq!(webmux::Frame::decode(bytes, layout), Ok(Some(*frame)));
                let (head, rest) = bytes.split_at(frame.header(layout) as usize);
                assert_eq!(head, frame.encode(layout));
                let zeros = u64::from(frame.payload()) + frame.padding(layout);
                assert_eq!(rest[..zeros as usize], vec![0; zeros as usize]);
                bytes = &rest[zeros as usize..];
            }
            assert_eq!(bytes, [0_u8; 0]);
        }
    }
}

#[test]
fn what_no_frame_covers_is_zeros() {
    let bytes = stream(&rows(), false, 600, 700, 60);
    assert_eq!(bytes, [0; 100]);
}

proptest! {
    #[test]
    fn packets_of_any_size_have_the_same_bytes(mss in 1..700_u32, up: bool) {
        let end = if up { 69 } else { 648 };
        prop_assert_eq!(stream(&rows(), up, 1, end, mss), stream(&rows(), up, 1, end, 1460));
    }
}

#[test]
fn rows_that_no_recorder_writes_are_errors() {
    type Change = fn(&mut Frames);
    let cases: [(Change, &str); 12] = [
        (|rows| rows.framing_bytes[0] = 40, "column framing_bytes: found 40; such a frame has another size"),
        (|rows| rows.framing_bytes[1] = 5, "column framing_bytes: found 5;"),
        (
            |rows| rows.data_bytes[3] = 1 << 24,
            "column data_bytes: found 16777216; a frame has less than 2^24 B",
        ),
        (|rows| rows.kind.words[3] = "FLAGS".to_owned(), "column kind: found \"FLAGS\"; that is not a word"),
        (
            |rows| rows.kind.codes[3] = FrameKind::Fragment as i32,
            "column kind: found \"FRAGMENT\"; that is no",
        ),
        (
            |rows| rows.protocol.words[0] = "spdy".to_owned(),
            "column protocol: found \"spdy\"; that is not a word",
        ),
        (|rows| rows.data_bytes[0] = 100, "column data_bytes: found 100; such a frame has no data"),
        (
            |rows| rows.credit_bytes[0] = 1 << 31,
            "column credit_bytes: found 2147483648; HTTP/2 has less than 2^31 B",
        ),
        (|rows| rows.direction.codes[0] = 7, "column direction: found nothing;"),
        (|rows| rows.stream[1] = NULL_INT, "column stream: found nothing;"),
        (|rows| rows.seq[4] = 500, "column seq: found 500; it is in the frame before"),
        (|rows| rows.ends.clear(), "column ends: found 0 values; every column has as many as connection"),
    ];
    for (change, message) in cases {
        let mut rows = rows();
        change(&mut rows);
        assert!(refused(&rows).starts_with(message), "{}", refused(&rows));
    }
}

#[test]
fn rows_of_mux_that_no_recorder_writes_are_errors() {
    type Change = fn(&mut Frames);
    let cases: [(Change, &str); 5] = [
        (
            |rows| rows.kind.codes[0] = FrameKind::Data as i32,
            "column kind: found \"DATA\"; that is not a word",
        ),
        (|rows| rows.stream[0] = 256, "column stream: found 256;"),
        (|rows| rows.data_bytes[0] = 1, "column data_bytes: found 1; such a frame has no data"),
        (|rows| rows.framing_bytes[1] = 4, "column framing_bytes: found 4; such a frame has another size"),
        (|rows| rows.credit_bytes[2] = NULL_INT, "column credit_bytes: found nothing;"),
    ];
    for (change, message) in cases {
        let (mut rows, _) = mux_rows(Layout::Y1998);
        change(&mut rows);
        assert!(refused(&rows).starts_with(message), "{}", refused(&rows));
    }
}

/// The error for wrong rows.
fn refused(rows: &Frames) -> String {
    let mut capture = Pcapng::new(route(), vec![Point::End(0)], Payload::Whole);
    capture.add_frames(rows).expect_err("a wrong row").to_string()
}
