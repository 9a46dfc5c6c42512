// SPDX-License-Identifier: Apache-2.0
//! PQClean's AVX2 implementations of NTRU and Saber, as the crates pqcrypto-ntru and pqcrypto-saber carry them, built for the CPU that
//! liboqs is built for.
use crate::peer::{Decaps, Encaps, Functions, Keypair, Peer};
use pqcrypto_ntru::ffi::*;
use pqcrypto_saber::ffi::*;

const NTRU: &str = "pqcrypto-ntru 0.5.8";
const SABER: &str = "pqcrypto-saber 0.1.11";

fn peer(set: &'static str, from: &str, keypair: Keypair, encaps: Encaps, decaps: Decaps) -> Box<dyn Peer> {
    let name = format!("PQClean AVX2 ({from}), {}", crate::CPU);
    Box::new(Functions { name, set, compatible: true, keypair, encaps, decaps })
}

/// Every set that both sides have.
pub fn peers() -> Vec<Box<dyn Peer>> {
    vec![
        peer(
            "ntruhps2048509",
            NTRU,
            PQCLEAN_NTRUHPS2048509_AVX2_crypto_kem_keypair,
            PQCLEAN_NTRUHPS2048509_AVX2_crypto_kem_enc,
            PQCLEAN_NTRUHPS2048509_AVX2_crypto_kem_dec,
        ),
        peer(
            "ntruhps2048677",
            NTRU,
            PQCLEAN_NTRUHPS2048677_AVX2_crypto_kem_keypair,
            PQCLEAN_NTRUHPS2048677_AVX2_crypto_kem_enc,
            PQCLEAN_NTRUHPS2048677_AVX2_crypto_kem_dec,
        ),
        peer(
            "ntruhps4096821",
            NTRU,
            PQCLEAN_NTRUHPS4096821_AVX2_crypto_kem_keypair,
            PQCLEAN_NTRUHPS4096821_AVX2_crypto_kem_enc,
            PQCLEAN_NTRUHPS4096821_AVX2_crypto_kem_dec,
        ),
        peer(
            "ntruhrss701",
            NTRU,
            PQCLEAN_NTRUHRSS701_AVX2_crypto_kem_keypair,
            PQCLEAN_NTRUHRSS701_AVX2_crypto_kem_enc,
            PQCLEAN_NTRUHRSS701_AVX2_crypto_kem_dec,
        ),
        peer(
            "lightsaber",
            SABER,
            PQCLEAN_LIGHTSABER_AVX2_crypto_kem_keypair,
            PQCLEAN_LIGHTSABER_AVX2_crypto_kem_enc,
            PQCLEAN_LIGHTSABER_AVX2_crypto_kem_dec,
        ),
        peer(
            "saber",
            SABER,
            PQCLEAN_SABER_AVX2_crypto_kem_keypair,
            PQCLEAN_SABER_AVX2_crypto_kem_enc,
            PQCLEAN_SABER_AVX2_crypto_kem_dec,
        ),
        peer(
            "firesaber",
            SABER,
            PQCLEAN_FIRESABER_AVX2_crypto_kem_keypair,
            PQCLEAN_FIRESABER_AVX2_crypto_kem_enc,
            PQCLEAN_FIRESABER_AVX2_crypto_kem_dec,
        ),
    ]
}
