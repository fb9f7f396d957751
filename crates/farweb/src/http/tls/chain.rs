//! Certificates of a server and its messages about them, in DER.
//!
//! Models a leaf and intermediates of one signature scheme: fields as certificates of the public Web have them, key, signature,
//! timestamps of logs inside the leaf, an OCSP response of the issuer beside it. Leaves out names other than a short one, several
//! names, roots, chains of mixed schemes, and OCSP for intermediates. A Merkle Tree certificate has the fields of other leaves.
//!
//! Sources: X.690 (lengths in DER); RFC 5280 (certificates); RFC 6962, sections 3.2 and 3.3 (timestamps); RFC 6960, section 4.2
//! (OCSP). Sizes of fields are measured of certificates and responses that OpenSSL 3.0 made in the profile of the Baseline
//! Requirements of the CA/Browser Forum: `docs/models/http2.md` has the commands.

use super::schemes::Scheme;

/// Version, serial number of 18 B, issuer (country, organisation, short name), validity, subject `www.example.com`, and extensions:
/// uses of the key, constraints, identifiers of keys, location of the issuer, one name, policy, location of a revocation list.
const LEAF_FIELDS: u64 = 411;

/// The same of an intermediate, with the constraints of a CA, without a name of a host.
const INTERMEDIATE_FIELDS: u64 = 417;

/// Responder by the hash of its key, times, one answer with the serial number of the leaf.
const OCSP_FIELDS: u64 = 163;

/// Object identifier of the extension with timestamps (1.3.6.1.4.1.11129.2.4.2), in DER.
const SCT_OID: u64 = 12;

/// Status, and the object identifier of the basic response with its header, in an OCSP response.
const OCSP_STATUS: u64 = 3;
const OCSP_OID: u64 = 11;

/// Version 1, log 32, time 8, no extensions 2, algorithm 2, length 2 and signature of a log, which is ECDSA on P-256.
const SCT: u64 = 47 + Scheme::EcdsaP256.bytes().signature;

/// Most timestamps: their list, with a length of 2 B before each, has at most 65,535 B (RFC 6962, section 3.3).
pub const SCTS_MAX: u32 = 65_535 / (2 + SCT as u32);

/// A value of `bytes` with its tag and length in DER.
const fn der(bytes: u64) -> u64 {
    let length = match bytes {
        0..=0x7f => 1,
        0x80..=0xff => 2,
        0x100..=0xffff => 3,
        0x1_0000..=0xff_ffff => 4,
        _ => 5,
    };
    1 + length + bytes
}

/// A BIT STRING of `bytes`, with all bits of its last byte in use.
const fn bit_string(bytes: u64) -> u64 {
    der(1 + bytes)
}

/// A certificate, by its parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Certificate {
    /// Its public key.
    pub(super) key: u64,
    /// The signature of its issuer, or its place in a tree.
    pub(super) signature: u64,
    /// Timestamps of logs.
    pub(super) scts: u64,
    /// Everything else.
    pub(super) fields: u64,
}

impl Certificate {
    /// A leaf with this number of timestamps.
    pub(super) const fn leaf(scheme: Scheme, scts: u32) -> Self {
        Self::new(scheme, LEAF_FIELDS, timestamps(scts))
    }

    /// An intermediate.
    pub(super) const fn intermediate(scheme: Scheme) -> Self {
        Self::new(scheme, INTERMEDIATE_FIELDS, 0)
    }

    const fn new(scheme: Scheme, fields: u64, scts: u64) -> Self {
        let (proof, algorithm) = scheme.issued();
        let scheme = scheme.bytes();
        let key = der(scheme.key_algorithm + bit_string(scheme.key));
        let signed = der(fields + scts + algorithm + key);
        let whole = der(signed + algorithm + bit_string(proof));
        let fields = whole - scheme.key - proof - scts;
        Self { key: scheme.key, signature: proof, scts, fields }
    }

    /// The whole of it.
    pub(super) const fn bytes(self) -> u64 {
        self.key + self.signature + self.scts + self.fields
    }
}

/// The extension with this number of timestamps.
const fn timestamps(count: u32) -> u64 {
    match count {
        0 => 0,
        count => der(SCT_OID + der(der(2 + count as u64 * (2 + SCT)))),
    }
}

/// An OCSP response that an issuer with this scheme signs itself.
pub(super) const fn ocsp_response(scheme: Scheme) -> u64 {
    let scheme = scheme.bytes();
    let basic = der(OCSP_FIELDS + scheme.signature_algorithm + bit_string(scheme.signature));
    der(OCSP_STATUS + der(der(OCSP_OID + der(basic))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_takes_the_bytes_that_it_needs() {
        for (bytes, whole) in [
            (0, 2),
            (127, 129),
            (128, 131),
            (255, 258),
            (256, 260),
            (65_535, 65_539),
            (65_536, 65_541),
            (0xff_ffff, 0x100_0004),
            (0x100_0000, 0x100_0006),
        ] {
            assert_eq!(der(bytes), whole, "{bytes}");
        }
    }

    #[test]
    fn certificates_are_as_long_as_openssl_makes_them() {
        // Measured, with signatures of 71 B.
        let chain =
            |scheme| (Certificate::leaf(scheme, 0).bytes(), Certificate::intermediate(scheme).bytes());
        assert_eq!(chain(Scheme::EcdsaP256), (608, 614));
        assert_eq!(ocsp_response(Scheme::EcdsaP256), 281);
    }

    #[test]
    fn public_keys_have_the_headers_that_are_known_of_them() {
        let info = |scheme: Scheme| der(scheme.bytes().key_algorithm + bit_string(scheme.bytes().key));
        // The sizes that any `openssl pkey -pubout -outform DER` has.
        assert_eq!(info(Scheme::EcdsaP256), 91);
        assert_eq!(info(Scheme::EcdsaP384), 120);
        assert_eq!(info(Scheme::Rsa2048), 294);
        assert_eq!(info(Scheme::Rsa4096), 550);
        // The key and a zero in a BIT STRING (1,317 B), an identifier (13 B), a SEQUENCE.
        assert_eq!(info(Scheme::MlDsa44), 1334);
    }

    #[test]
    fn a_place_in_a_tree_stands_for_the_signature() {
        let [signed, placed] =
            [Scheme::MlDsa44, Scheme::MerkleTree].map(|scheme| Certificate::leaf(scheme, 0));
        assert_eq!((placed.key, placed.signature), (signed.key, 754), "23 hashes (736 B) and 18 B");
        // Both identifiers of the algorithm are a byte shorter, and no length is.
        assert_eq!(signed.fields - placed.fields, 2);
    }

    #[test]
    fn timestamps_are_in_the_leaf_and_fill_their_list() {
        let scts = |count| Certificate::leaf(Scheme::EcdsaP256, count).scts;
        // Two of 118 B with lengths (240), the length of the list (242), two OCTET STRINGs (245, 248), object identifier, SEQUENCE.
        assert_eq!([scts(0), scts(2)], [0, 264]);
        assert_eq!(SCTS_MAX, 546, "of 120 B with their lengths");
    }
}
