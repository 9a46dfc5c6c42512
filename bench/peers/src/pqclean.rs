// SPDX-License-Identifier: Apache-2.0
//! PQClean's AVX2 implementations, one operation at a time, as the crate pqcrypto-ntru carries them. They take their random
//! numbers from the operating system in every call.
use crate::peer::Peer;
use pqcrypto_ntru::ffi::*;

const NAME: &str = "PQClean AVX2 (pqcrypto-ntru 0.5.8)";

/// Every set that both sides have.
pub fn peers() -> Vec<Peer> {
    vec![
        Peer {
            name: NAME.to_owned(),
            compatible: true,
            set: "ntruhps2048509",
            keypair: PQCLEAN_NTRUHPS2048509_AVX2_crypto_kem_keypair,
            encaps: PQCLEAN_NTRUHPS2048509_AVX2_crypto_kem_enc,
            decaps: PQCLEAN_NTRUHPS2048509_AVX2_crypto_kem_dec,
        },
        Peer {
            name: NAME.to_owned(),
            compatible: true,
            set: "ntruhps2048677",
            keypair: PQCLEAN_NTRUHPS2048677_AVX2_crypto_kem_keypair,
            encaps: PQCLEAN_NTRUHPS2048677_AVX2_crypto_kem_enc,
            decaps: PQCLEAN_NTRUHPS2048677_AVX2_crypto_kem_dec,
        },
        Peer {
            name: NAME.to_owned(),
            compatible: true,
            set: "ntruhps4096821",
            keypair: PQCLEAN_NTRUHPS4096821_AVX2_crypto_kem_keypair,
            encaps: PQCLEAN_NTRUHPS4096821_AVX2_crypto_kem_enc,
            decaps: PQCLEAN_NTRUHPS4096821_AVX2_crypto_kem_dec,
        },
        Peer {
            name: NAME.to_owned(),
            compatible: true,
            set: "ntruhrss701",
            keypair: PQCLEAN_NTRUHRSS701_AVX2_crypto_kem_keypair,
            encaps: PQCLEAN_NTRUHRSS701_AVX2_crypto_kem_enc,
            decaps: PQCLEAN_NTRUHRSS701_AVX2_crypto_kem_dec,
        },
    ]
}
