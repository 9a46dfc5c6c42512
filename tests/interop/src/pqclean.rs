// SPDX-License-Identifier: Apache-2.0
//! NTRU of PQClean, through the crate that packages it.
use pqcrypto_traits::kem::{Ciphertext, PublicKey, SecretKey, SharedSecret};

use crate::Foreign;

macro_rules! set {
    ($kind:ident, $module:ident) => {
        struct $kind;

        impl Foreign for $kind {
            fn name(&self) -> String {
                "PQClean".to_string()
            }

            fn set(&self) -> &'static str {
                stringify!($module)
            }

            fn keygen(&self) -> (Vec<u8>, Vec<u8>) {
                let (pk, sk) = pqcrypto_ntru::$module::keypair();
                (pk.as_bytes().to_vec(), sk.as_bytes().to_vec())
            }

            fn encaps(&self, pk: &[u8]) -> (Vec<u8>, Vec<u8>) {
                let pk = pqcrypto_ntru::$module::PublicKey::from_bytes(pk).expect("they refuse our public key");
                let (ss, ct) = pqcrypto_ntru::$module::encapsulate(&pk);
                (ct.as_bytes().to_vec(), ss.as_bytes().to_vec())
            }

            fn decaps(&self, sk: &[u8], ct: &[u8]) -> Vec<u8> {
                let sk = pqcrypto_ntru::$module::SecretKey::from_bytes(sk).expect("they refuse our secret key");
                let ct = pqcrypto_ntru::$module::Ciphertext::from_bytes(ct).expect("they refuse our ciphertext");
                pqcrypto_ntru::$module::decapsulate(&ct, &sk).as_bytes().to_vec()
            }
        }
    };
}

set!(Hps2048509, ntruhps2048509);
set!(Hps2048677, ntruhps2048677);
set!(Hps4096821, ntruhps4096821);
set!(Hrss701, ntruhrss701);

pub fn sets() -> Vec<Box<dyn Foreign>> {
    vec![Box::new(Hps2048509), Box::new(Hps2048677), Box::new(Hps4096821), Box::new(Hrss701)]
}
