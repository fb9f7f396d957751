//! Key exchanges and signature schemes of handshakes, with their sizes on the wire.
//!
//! Models each as bytes: shares of a key exchange, keys and signatures. Leaves out the time that they take, and certificates that
//! carry two keys. Of Merkle Tree certificates it models those relative to a landmark, which no one signs.
//!
//! Sources: FIPS 203, table 3 (ML-KEM); FIPS 204, table 2 (ML-DSA); FIPS 205, table 2 (SLH-DSA); RFC 8446, section
//! 4.2.8 (curves); draft-ietf-tls-ecdhe-mlkem-04 and draft-ietf-tls-mlkem (their use in TLS). FN-DSA: FIPS 206 is not
//! out. The sizes are from Falcon's third round, the base of draft-ietf-lamps-fn-dsa-certificates-00. Merkle Tree
//! certificates: draft-ietf-plants-merkle-tree-certs, "Certificate Format" and "Certificate Size".

use serde::{Deserialize, Serialize};

/// Key exchange of a handshake: a curve, an ML-KEM, or both together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum KeyExchange {
    /// Curve25519.
    X25519,
    /// The curve P-256.
    Secp256r1,
    /// The curve P-384.
    Secp384r1,
    /// Curve25519 and ML-KEM-768 (what browsers do).
    X25519Mlkem768,
    /// P-256 and ML-KEM-768.
    Secp256r1Mlkem768,
    /// P-384 and ML-KEM-1024.
    Secp384r1Mlkem1024,
    /// ML-KEM-512 alone.
    Mlkem512,
    /// ML-KEM-768 alone.
    Mlkem768,
    /// ML-KEM-1024 alone.
    Mlkem1024,
}

/// Bytes of a key exchange, by end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shares {
    /// Of the client: points of curves, and the encapsulation key.
    pub client: u64,
    /// Of the server: points, and the ciphertext.
    pub server: u64,
}

/// A point of Curve25519, and uncompressed ones of P-256 and P-384 (RFC 8446, section 4.2.8.2).
const X25519: u64 = 32;
const P256: u64 = 65;
const P384: u64 = 97;

/// Encapsulation key and ciphertext (FIPS 203, table 3).
const MLKEM_512: (u64, u64) = (800, 768);
const MLKEM_768: (u64, u64) = (1184, 1088);
const MLKEM_1024: (u64, u64) = (1568, 1568);

impl KeyExchange {
    /// Bytes that each end sends of it.
    #[must_use]
    pub const fn shares(self) -> Shares {
        let (point, (key, ciphertext)) = match self {
            Self::X25519 => (X25519, (0, 0)),
            Self::Secp256r1 => (P256, (0, 0)),
            Self::Secp384r1 => (P384, (0, 0)),
            Self::X25519Mlkem768 => (X25519, MLKEM_768),
            Self::Secp256r1Mlkem768 => (P256, MLKEM_768),
            Self::Secp384r1Mlkem1024 => (P384, MLKEM_1024),
            Self::Mlkem512 => (0, MLKEM_512),
            Self::Mlkem768 => (0, MLKEM_768),
            Self::Mlkem1024 => (0, MLKEM_1024),
        };
        Shares { client: point + key, server: point + ciphertext }
    }

    /// True where it has an ML-KEM, which only TLS 1.3 has a place for.
    #[must_use]
    pub const fn is_post_quantum(self) -> bool {
        !matches!(self, Self::X25519 | Self::Secp256r1 | Self::Secp384r1)
    }
}

/// Signature scheme of the keys of all certificates of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Scheme {
    /// ECDSA on P-256 with SHA-256.
    #[serde(rename = "ecdsa-p256")]
    EcdsaP256,
    /// ECDSA on P-384 with SHA-384.
    #[serde(rename = "ecdsa-p384")]
    EcdsaP384,
    /// RSA with 2048 bits.
    #[serde(rename = "rsa-2048")]
    Rsa2048,
    /// RSA with 4096 bits.
    #[serde(rename = "rsa-4096")]
    Rsa4096,
    /// ML-DSA-44 (FIPS 204).
    #[serde(rename = "ml-dsa-44")]
    MlDsa44,
    /// ML-DSA-65.
    #[serde(rename = "ml-dsa-65")]
    MlDsa65,
    /// ML-DSA-87.
    #[serde(rename = "ml-dsa-87")]
    MlDsa87,
    /// FN-DSA-512 (Falcon), as drafts have it.
    #[serde(rename = "fn-dsa-512")]
    FnDsa512,
    /// FN-DSA-1024, as drafts have it.
    #[serde(rename = "fn-dsa-1024")]
    FnDsa1024,
    /// SLH-DSA with the small parameters for 128 bits (FIPS 205); SHA2 and SHAKE have equal sizes.
    #[serde(rename = "slh-dsa-128s")]
    SlhDsa128s,
    /// SLH-DSA with the fast parameters for 128 bits.
    #[serde(rename = "slh-dsa-128f")]
    SlhDsa128f,
    /// SLH-DSA with the small parameters for 192 bits.
    #[serde(rename = "slh-dsa-192s")]
    SlhDsa192s,
    /// SLH-DSA with the fast parameters for 192 bits.
    #[serde(rename = "slh-dsa-192f")]
    SlhDsa192f,
    /// SLH-DSA with the small parameters for 256 bits.
    #[serde(rename = "slh-dsa-256s")]
    SlhDsa256s,
    /// SLH-DSA with the fast parameters for 256 bits.
    #[serde(rename = "slh-dsa-256f")]
    SlhDsa256f,
    /// A Merkle Tree certificate relative to a landmark, for a key of ML-DSA-44.
    #[serde(rename = "merkle-tree")]
    MerkleTree,
}

/// Proof in a Merkle Tree certificate, in place of the issuer's signature: extensions 2, first and last entry of the subtree 12,
/// lengths of the proof and of no signatures 4, and 23 hashes of 32 B, for hourly landmarks of 4.4 million entries.
const MTC_PROOF: u64 = 2 + 12 + 4 + 23 * 32;

/// `AlgorithmIdentifier` of id-alg-mtcProof (1.3.6.1.5.5.7.6 and a number below 128), in DER.
const MTC_ALGORITHM: u64 = 12;

/// Bytes of a signature scheme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SchemeBytes {
    /// The public key, as it stands in the BIT STRING of a certificate.
    pub key: u64,
    /// A signature. ECDSA's DER varies by one to three bytes: the most frequent size.
    pub signature: u64,
    /// `AlgorithmIdentifier` of the key, in DER.
    pub key_algorithm: u64,
    /// `AlgorithmIdentifier` of signatures, in DER.
    pub signature_algorithm: u64,
}

impl Scheme {
    /// The sizes of its keys and signatures.
    #[must_use]
    pub const fn bytes(self) -> SchemeBytes {
        match self {
            // RFC 5480: id-ecPublicKey and the curve. Two INTEGERs of 32.5 B on average with their headers.
            Self::EcdsaP256 => {
                SchemeBytes { key: 65, signature: 71, key_algorithm: 21, signature_algorithm: 12 }
            }
            Self::EcdsaP384 => {
                SchemeBytes { key: 97, signature: 103, key_algorithm: 18, signature_algorithm: 12 }
            }
            // RFC 8017: SEQUENCE of the modulus, with a zero before it, and the exponent 65537. NULL parameters.
            Self::Rsa2048 => {
                SchemeBytes { key: 270, signature: 256, key_algorithm: 15, signature_algorithm: 15 }
            }
            Self::Rsa4096 => {
                SchemeBytes { key: 526, signature: 512, key_algorithm: 15, signature_algorithm: 15 }
            }
            Self::MlDsa44 | Self::MerkleTree => Self::bare(1312, 2420),
            Self::MlDsa65 => Self::bare(1952, 3309),
            Self::MlDsa87 => Self::bare(2592, 4627),
            Self::FnDsa512 => Self::bare(897, 666),
            Self::FnDsa1024 => Self::bare(1793, 1280),
            Self::SlhDsa128s => Self::bare(32, 7856),
            Self::SlhDsa128f => Self::bare(32, 17_088),
            Self::SlhDsa192s => Self::bare(48, 16_224),
            Self::SlhDsa192f => Self::bare(48, 35_664),
            Self::SlhDsa256s => Self::bare(64, 29_792),
            Self::SlhDsa256f => Self::bare(64, 49_856),
        }
    }

    /// Key and signature as bare strings, under an identifier of NIST's arc without parameters (RFC 9881 and RFC 9909).
    const fn bare(key: u64, signature: u64) -> SchemeBytes {
        SchemeBytes { key, signature, key_algorithm: 13, signature_algorithm: 13 }
    }

    /// The proof of the issuer in a certificate, and its `AlgorithmIdentifier`: a signature of this scheme, or a place in a tree.
    #[must_use]
    pub const fn issued(self) -> (u64, u64) {
        let SchemeBytes { signature, signature_algorithm, .. } = self.bytes();
        if self.has_chain() { (signature, signature_algorithm) } else { (MTC_PROOF, MTC_ALGORITHM) }
    }

    /// True where signatures lead to a root: there may be intermediates, timestamps of logs and an OCSP response.
    #[must_use]
    pub const fn has_chain(self) -> bool {
        !matches!(self, Self::MerkleTree)
    }

    /// True of a scheme that a quantum computer does not break. Only TLS 1.3 has code points for it.
    #[must_use]
    pub const fn is_post_quantum(self) -> bool {
        !matches!(self, Self::EcdsaP256 | Self::EcdsaP384 | Self::Rsa2048 | Self::Rsa4096)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A word as a scenario writes it.
    fn read<T: for<'de> Deserialize<'de>>(word: &str) -> T {
        serde_json::from_value(word.into()).unwrap_or_else(|error| panic!("{word}: {error}"))
    }

    #[test]
    fn shares_are_those_of_the_standards() {
        for (word, client, server) in [
            ("x25519", 32, 32),
            ("secp256r1", 65, 65),
            ("secp384r1", 97, 97),
            // draft-ietf-tls-ecdhe-mlkem, section 4.
            ("x25519mlkem768", 1216, 1120),
            ("secp256r1mlkem768", 1249, 1153),
            ("secp384r1mlkem1024", 1665, 1665),
            // FIPS 203, table 3.
            ("mlkem512", 800, 768),
            ("mlkem768", 1184, 1088),
            ("mlkem1024", 1568, 1568),
        ] {
            let exchange: KeyExchange = read(word);
            assert_eq!(exchange.shares(), Shares { client, server }, "{word}");
            assert_eq!(exchange.is_post_quantum(), word.contains("mlkem"), "{word}");
        }
    }

    #[test]
    fn keys_and_signatures_are_those_of_the_standards() {
        for (word, key, signature) in [
            // FIPS 204, table 2.
            ("ml-dsa-44", 1312, 2420),
            ("ml-dsa-65", 1952, 3309),
            ("ml-dsa-87", 2592, 4627),
            // Falcon, third round, table 3.3.
            ("fn-dsa-512", 897, 666),
            ("fn-dsa-1024", 1793, 1280),
            // FIPS 205, table 2.
            ("slh-dsa-128s", 32, 7856),
            ("slh-dsa-128f", 32, 17_088),
            ("slh-dsa-192s", 48, 16_224),
            ("slh-dsa-192f", 48, 35_664),
            ("slh-dsa-256s", 64, 29_792),
            ("slh-dsa-256f", 64, 49_856),
            ("ecdsa-p256", 65, 71),
            ("ecdsa-p384", 97, 103),
            ("rsa-2048", 270, 256),
            ("rsa-4096", 526, 512),
            ("merkle-tree", 1312, 2420),
        ] {
            let scheme: Scheme = read(word);
            assert_eq!((scheme.bytes().key, scheme.bytes().signature), (key, signature), "{word}");
            let is_classical = word.starts_with("ecdsa") || word.starts_with("rsa");
            assert_eq!(scheme.is_post_quantum(), !is_classical, "{word}");
        }
    }
}
