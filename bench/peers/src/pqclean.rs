// SPDX-License-Identifier: Apache-2.0
//! PQClean's AVX2 implementations of NTRU, as the crate pqcrypto-ntru carries them, built for the CPU that liboqs is built for.
use crate::peer::{Decaps, Encaps, Functions, Keypair, Peer};
use pqcrypto_ntru::ffi::*;

fn peer(set: &'static str, keypair: Keypair, encaps: Encaps, decaps: Decaps) -> Box<dyn Peer> {
    let name = format!("PQClean AVX2 (pqcrypto-ntru 0.5.8), {}", crate::CPU);
    Box::new(Functions { name, set, compatible: true, keypair, encaps, decaps })
}

/// Every set that both sides have.
pub fn peers() -> Vec<Box<dyn Peer>> {
    vec![
        peer(
            "ntruhps2048509",
            PQCLEAN_NTRUHPS2048509_AVX2_crypto_kem_keypair,
            PQCLEAN_NTRUHPS2048509_AVX2_crypto_kem_enc,
            PQCLEAN_NTRUHPS2048509_AVX2_crypto_kem_dec,
        ),
        peer(
            "ntruhps2048677",
            PQCLEAN_NTRUHPS2048677_AVX2_crypto_kem_keypair,
            PQCLEAN_NTRUHPS2048677_AVX2_crypto_kem_enc,
            PQCLEAN_NTRUHPS2048677_AVX2_crypto_kem_dec,
        ),
        peer(
            "ntruhps4096821",
            PQCLEAN_NTRUHPS4096821_AVX2_crypto_kem_keypair,
            PQCLEAN_NTRUHPS4096821_AVX2_crypto_kem_enc,
            PQCLEAN_NTRUHPS4096821_AVX2_crypto_kem_dec,
        ),
        peer(
            "ntruhrss701",
            PQCLEAN_NTRUHRSS701_AVX2_crypto_kem_keypair,
            PQCLEAN_NTRUHRSS701_AVX2_crypto_kem_enc,
            PQCLEAN_NTRUHRSS701_AVX2_crypto_kem_dec,
        ),
    ]
}
