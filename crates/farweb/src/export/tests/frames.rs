//! Frames in payload: from rows made by hand, cut into packets anyhow.

use super::*;
use crate::record::FrameKind;
use proptest::prelude::*;

/// A client's preface and SETTINGS, a request, and a response of two frames, as the frame table has them.
fn rows() -> Frames {
    let kinds =
        [FrameKind::Settings, FrameKind::Headers, FrameKind::Headers, FrameKind::Data, FrameKind::Data];
    let words = |codes: &[i32], words: &[&str]| Words {
        codes: codes.to_vec(),
        words: words.iter().map(ToString::to_string).collect(),
    };
    Frames {
        connection: vec![0; 5],
        direction: words(&[0, 0, 1, 1, 1], &["up", "down"]),
        seq: vec![1, 40, 1, 30, 539],
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
fn rows_that_no_recorder_writes_are_told() {
    type Change = fn(&mut Frames);
    let cases: [(Change, &str); 8] = [
        (|rows| rows.framing_bytes[0] = 40, "column framing_bytes: found 40; such a frame has other bytes"),
        (|rows| rows.framing_bytes[1] = 5, "column framing_bytes: found 5;"),
        (
            |rows| rows.data_bytes[3] = 1 << 24,
            "column data_bytes: found 16777216; a frame has less than 2^24 B",
        ),
        (|rows| rows.kind.words[3] = "FLAGS".to_owned(), "column kind: found \"FLAGS\"; that is no word"),
        (|rows| rows.direction.codes[0] = 7, "column direction: found nothing;"),
        (|rows| rows.stream[1] = NULL_INT, "column stream: found nothing;"),
        (|rows| rows.seq[4] = 500, "column seq: found 500; it is in the frame before"),
        (|rows| rows.ends.clear(), "column ends: found 0 values; every column has as many as connection"),
    ];
    for (change, message) in cases {
        let mut rows = rows();
        change(&mut rows);
        let told = Pcapng::new(route(), vec![Point::End(0)], Payload::Whole)
            .add_frames(&rows)
            .expect_err("a wrong row")
            .to_string();
        assert!(told.starts_with(message), "{told}");
    }
}
