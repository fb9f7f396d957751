//! Flights against sums that can be worked out by hand, and against what Go and OpenSSL sent.

use super::*;

/// The chain that a Web server had before any of this: ECDSA, one intermediate.
const CLASSICAL: Parts = Parts {
    key_exchange: KeyExchange::X25519,
    certificates: Scheme::EcdsaP256,
    intermediates: 1,
    scts: 0,
    ocsp: false,
    compression: None,
    suppress_intermediates: false,
};

fn full(parts: &Parts) -> [u64; 2] {
    let HandshakeBytes { client, server } = parts.bytes(Version::V13, Start::Full);
    [client, server]
}

fn of(parts: &[Part], name: &str) -> i64 {
    parts.iter().find(|part| part.name == name).map_or(0, |part| part.bytes)
}

#[test]
fn flights_are_sums_that_can_be_worked_out_by_hand() {
    // ClientHello: 4 + 2 + 32 + 33 + 8 + 2 + 2 = 83, extensions 24 + 12 + 22 + 18 + 7 + 6 = 89, share 6 + 4 + 32, record.
    // Server: hello 122 in a record of 127, ChangeCipherSpec 6, then 19, Certificate 4 + 4 + 613 + 619, 79 and 36 in records of 22 more.
    assert_eq!(full(&CLASSICAL), [83 + 89 + 42 + 5, 127 + 6 + 41 + 1262 + 101 + 58]);
    let resumed = CLASSICAL.bytes(Version::V13, Start::Resumed);
    assert_eq!(resumed, HandshakeBytes { client: 219 + 250, server: 127 + 6 + 6 + 41 + 58 });
    let early = CLASSICAL.bytes(Version::V13, Start::EarlyData);
    assert_eq!((early.client - resumed.client, early.server - resumed.server), (4, 4));
}

#[test]
fn flights_of_tls_1_2_are_sums_too() {
    // ClientHello 51 + 76 + 19. ServerHello 44 + 13 + 19, Certificate 4 + 3 + 611 + 617, share 8 + 32, proof 75, done 4, five
    // records less one.
    let bytes = |parts: &Parts, start| {
        let HandshakeBytes { client, server } = parts.bytes(Version::V12, start);
        [client, server]
    };
    assert_eq!(bytes(&CLASSICAL, Start::Full), [146 + 5, 76 + 1235 + 40 + 75 + 4 + 4 * 5]);
    assert_eq!(bytes(&CLASSICAL, Start::Resumed), [151 + 32 + 195, 76 + 32 + 5 + 6 + 45]);
    // A request of 9 B and its echo of 4 B. CertificateStatus of 8 B and the response in a record.
    let ocsp = bytes(&Parts { ocsp: true, ..CLASSICAL }, Start::Full);
    assert_eq!(ocsp, [151 + 9, 1450 + 4 + 8 + 281 + 5]);
}

/// Go 1.26, both ends, with the key exchange X25519MLKEM768 in place of X25519, and the padded chain.
#[test]
fn a_hybrid_key_exchange_adds_what_go_sent() {
    let hybrid = Parts { key_exchange: KeyExchange::X25519Mlkem768, ..CLASSICAL };
    let [[client, server], [client_before, server_before]] = [full(&hybrid), full(&CLASSICAL)];
    assert_eq!([client - client_before, server - server_before], [1486 - 302, 2094 - 1006]);
}

#[test]
fn every_16_kib_of_certificates_add_a_record() {
    // Go: 21,054 B where 13,000 more bytes of chain had been 14,033 B, and 44,077 B: 22 B for each further record.
    let records = |intermediates| {
        let parts = Parts { intermediates, ..CLASSICAL }.server(Version::V13, Start::Full);
        of(&parts, "records")
    };
    // Lengths 8 + 613, and 619 for each intermediate: 25 of them make 16,096 B, 26 make 16,715 B.
    assert_eq!([records(1), records(25), records(26)], [99, 99, 121]);
}

#[test]
fn a_post_quantum_chain_has_its_keys_and_signatures() {
    let parts = Parts { certificates: Scheme::MlDsa44, ..CLASSICAL };
    let server = parts.server(Version::V13, Start::Full);
    assert_eq!((of(&server, "leaf: key"), of(&server, "leaf: signature")), (1312, 2420));
    assert_eq!(of(&server, "CertificateVerify"), 8 + 2420);
    // Leaf: 411 + 13 + 1334 in a SEQUENCE of 4, 13, and 2421 in a BIT STRING of 4, in a SEQUENCE of 4. The intermediate has 6 B
    // more.
    let leaf = 4 + (4 + 411 + 13 + 1334) + 13 + (4 + 2421);
    assert_eq!(of(&server, "intermediates"), leaf + 6);
    assert_eq!(sum(&server), 127 + 6 + 41 + (22 + 8 + 10 + 2 * leaf as u64 + 6) + (22 + 2428) + 58);
}

#[test]
fn a_certificate_with_a_place_in_a_tree_comes_alone() {
    let parts = Parts { certificates: Scheme::MerkleTree, intermediates: 0, ..CLASSICAL };
    let server = parts.server(Version::V13, Start::Full);
    // As the leaf of ML-DSA-44, with identifiers of 12 B and 754 B, and a zero, in the BIT STRING.
    let leaf = 4 + (4 + 411 + 12 + 1334) + 12 + (4 + 755);
    assert_eq!(sum(&server), 127 + 6 + 41 + (22 + 8 + 5 + leaf) + (22 + 8 + 2420) + 58);
}

#[test]
fn what_a_client_asks_for_costs_its_hello_an_extension() {
    let base = full(&CLASSICAL);
    let more = |parts: Parts| [0, 1].map(|end| full(&parts)[end] as i64 - base[end] as i64);
    assert_eq!(more(Parts { ocsp: true, ..CLASSICAL }), [9, 8 + 281]);
    assert_eq!(more(Parts { scts: 2, ..CLASSICAL }), [0, 264]);
    assert_eq!(more(Parts { suppress_intermediates: true, ..CLASSICAL }), [6, -619]);
    assert_eq!(more(Parts { intermediates: 0, ..CLASSICAL }), [0, -619]);
    // Of 1,236 B behind the header a half is left, and 8 B are added.
    assert_eq!(more(Parts { compression: Some(0.5), ..CLASSICAL }), [7, 8 - 618]);
    assert_eq!(more(Parts { compression: Some(1.0), ..CLASSICAL }), [7, 8]);
}

#[test]
fn a_resumed_handshake_has_no_certificates() {
    let heavy = Parts {
        certificates: Scheme::SlhDsa256f,
        intermediates: 3,
        scts: 2,
        ocsp: true,
        compression: Some(0.9),
        ..CLASSICAL
    };
    for version in [Version::V13, Version::V12] {
        let resumed = |parts: &Parts| parts.bytes(version, Start::Resumed).server;
        assert_eq!(resumed(&heavy), resumed(&CLASSICAL), "{version:?}");
    }
}

#[test]
fn the_certificate_message_is_what_its_length_counts() {
    // Version 1.3: 8 + 613 + 619. Version 1.2: 7 + 611 + 617, where OCSP has a message of its own.
    let ocsp = Parts { ocsp: true, ..CLASSICAL };
    assert_eq!(CLASSICAL.certificate_message(Version::V13), 1240);
    assert_eq!(ocsp.certificate_message(Version::V13), 1240 + 289);
    assert_eq!(ocsp.certificate_message(Version::V12), 1235);
}

proptest::proptest! {
    #[test]
    fn every_flight_is_the_sum_of_parts_that_are_there(
        intermediates in 0..40_u32, scts in 0..20_u32, ocsp: bool, suppress_intermediates: bool, ratio in 0.01..=1.0
    ) {
        let parts = Parts { intermediates, scts, ocsp, suppress_intermediates, compression: Some(ratio), ..CLASSICAL };
        for start in [Start::Full, Start::Resumed, Start::EarlyData] {
            for flight in [parts.client(Version::V13, start), parts.server(Version::V13, start)] {
                let mut names: Vec<_> = flight.iter().map(|part| part.name).collect();
                names.sort_unstable();
                names.dedup();
                assert_eq!(names.len(), flight.len());
                assert!(flight.iter().all(|part| part.bytes > 0 || part.name == "compression"));
                assert!(sum(&flight) > 100);
            }
        }
    }
}
