// SPDX-License-Identifier: Apache-2.0
//! PQClean's AVX2 implementations, one operation at a time, as the crate pqcrypto-ntru carries them. They take their random
//! numbers from the operating system in every call.
use libc::c_int;
use pqcrypto_ntru::ffi::*;

pub type Keypair = unsafe extern "C" fn(*mut u8, *mut u8) -> c_int;
pub type Encaps = unsafe extern "C" fn(*mut u8, *mut u8, *const u8) -> c_int;
pub type Decaps = unsafe extern "C" fn(*mut u8, *const u8, *const u8) -> c_int;

pub struct Peer {
    pub set: &'static str,
    pub keypair: Keypair,
    pub encaps: Encaps,
    pub decaps: Decaps,
}

pub const NAME: &str = "PQClean AVX2 (pqcrypto-ntru 0.5.8)";

pub const PEERS: [Peer; 4] = [
    Peer {
        set: "ntruhps2048509",
        keypair: PQCLEAN_NTRUHPS2048509_AVX2_crypto_kem_keypair,
        encaps: PQCLEAN_NTRUHPS2048509_AVX2_crypto_kem_enc,
        decaps: PQCLEAN_NTRUHPS2048509_AVX2_crypto_kem_dec,
    },
    Peer {
        set: "ntruhps2048677",
        keypair: PQCLEAN_NTRUHPS2048677_AVX2_crypto_kem_keypair,
        encaps: PQCLEAN_NTRUHPS2048677_AVX2_crypto_kem_enc,
        decaps: PQCLEAN_NTRUHPS2048677_AVX2_crypto_kem_dec,
    },
    Peer {
        set: "ntruhps4096821",
        keypair: PQCLEAN_NTRUHPS4096821_AVX2_crypto_kem_keypair,
        encaps: PQCLEAN_NTRUHPS4096821_AVX2_crypto_kem_enc,
        decaps: PQCLEAN_NTRUHPS4096821_AVX2_crypto_kem_dec,
    },
    Peer {
        set: "ntruhrss701",
        keypair: PQCLEAN_NTRUHRSS701_AVX2_crypto_kem_keypair,
        encaps: PQCLEAN_NTRUHRSS701_AVX2_crypto_kem_enc,
        decaps: PQCLEAN_NTRUHRSS701_AVX2_crypto_kem_dec,
    },
];
