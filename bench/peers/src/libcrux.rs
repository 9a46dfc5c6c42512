// SPDX-License-Identifier: Apache-2.0
//! libcrux's ML-KEM in Rust with AVX2, with the standard's checks of its inputs, which it leaves to the caller.
use crate::peer::{Peer, Sender};
use crate::random;

/// A record of the peer's size at the head of a longer slice.
fn head<const N: usize>(bytes: &[u8]) -> &[u8; N] {
    bytes[..N].try_into().unwrap()
}

macro_rules! peer {
    ($module:ident, $set:literal, $public_key:ident, $private_key:ident, $ciphertext:ident) => {
        mod $module {
            use super::*;
            use libcrux_ml_kem::$module::{self as mlkem, *};

            pub struct Libcrux;

            impl Peer for Libcrux {
                fn name(&self) -> String {
                    "libcrux-ml-kem 0.0.11".to_owned()
                }
                fn set(&self) -> &'static str {
                    $set
                }
                fn keygen(&self, pk: &mut [u8], sk: &mut [u8]) {
                    let pair = mlkem::generate_key_pair(random::array());
                    pk[..pair.pk().len()].copy_from_slice(pair.pk());
                    sk[..pair.sk().len()].copy_from_slice(pair.sk());
                }
                fn encaps(&self, pk: &[u8], ct: &mut [u8], ss: &mut [u8]) {
                    let key = $public_key::from(head(pk));
                    assert!(mlkem::validate_public_key(&key), "{} encaps", $set);
                    let (ciphertext, secret) = mlkem::encapsulate(&key, random::array());
                    ct[..ciphertext.as_ref().len()].copy_from_slice(ciphertext.as_ref());
                    ss[..secret.len()].copy_from_slice(&secret);
                }
                fn decaps(&self, sk: &[u8], ct: &[u8], ss: &mut [u8]) {
                    let (key, ciphertext) = ($private_key::from(head(sk)), $ciphertext::from(head(ct)));
                    assert!(mlkem::validate_private_key(&key, &ciphertext), "{} decaps", $set);
                    let secret = mlkem::decapsulate(&key, &ciphertext);
                    ss[..secret.len()].copy_from_slice(&secret);
                }
                fn read_public(&self, pk: &[u8]) -> Option<Sender> {
                    let key = $public_key::from(head(pk));
                    assert!(mlkem::validate_public_key(&key), "{} encaps", $set);
                    let mut read = avx2::unpacked::init_public_key();
                    avx2::unpacked::unpacked_public_key(&key, &mut read);
                    Some(Box::new(move |ct, ss| {
                        let (ciphertext, secret) = avx2::unpacked::encapsulate(&read, random::array());
                        ct[..ciphertext.as_ref().len()].copy_from_slice(ciphertext.as_ref());
                        ss[..secret.len()].copy_from_slice(&secret);
                    }))
                }
            }
        }
    };
}

peer!(mlkem512, "mlkem512", MlKem512PublicKey, MlKem512PrivateKey, MlKem512Ciphertext);
peer!(mlkem768, "mlkem768", MlKem768PublicKey, MlKem768PrivateKey, MlKem768Ciphertext);
peer!(mlkem1024, "mlkem1024", MlKem1024PublicKey, MlKem1024PrivateKey, MlKem1024Ciphertext);

pub fn peers() -> Vec<Box<dyn Peer>> {
    vec![Box::new(mlkem512::Libcrux), Box::new(mlkem768::Libcrux), Box::new(mlkem1024::Libcrux)]
}
