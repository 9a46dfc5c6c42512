// SPDX-License-Identifier: Apache-2.0
//! AWS-LC's ML-KEM, mlkem-native with its AVX2 assembly, below the EVP interface: on bytes, with the random numbers given.
use crate::{peer::Peer, random};
use libc::c_int;

type Keypair = unsafe extern "C" fn(*mut u8, *mut usize, *mut u8, *mut usize, *const u8) -> c_int;
type Encaps = unsafe extern "C" fn(*mut u8, *mut usize, *mut u8, *mut usize, *const u8, *const u8) -> c_int;
type Decaps = unsafe extern "C" fn(*mut u8, *mut usize, *const u8, *const u8) -> c_int;

struct AwsLc {
    set: &'static str,
    keypair: Keypair,
    encaps: Encaps,
    decaps: Decaps,
}

impl Peer for AwsLc {
    fn name(&self) -> String {
        "AWS-LC (aws-lc-sys 0.47)".to_owned()
    }
    fn set(&self) -> &'static str {
        self.set
    }
    fn keygen(&self, pk: &mut [u8], sk: &mut [u8]) {
        let seed: [u8; 64] = random::array();
        let (mut pk_bytes, mut sk_bytes) = (pk.len(), sk.len());
        let status = unsafe {
            (self.keypair)(pk.as_mut_ptr(), &mut pk_bytes, sk.as_mut_ptr(), &mut sk_bytes, seed.as_ptr())
        };
        assert_eq!(status, 0, "{} keygen", self.set);
    }
    fn encaps(&self, pk: &[u8], ct: &mut [u8], ss: &mut [u8]) {
        let seed: [u8; 32] = random::array();
        let (mut ct_bytes, mut ss_bytes) = (ct.len(), ss.len());
        let status = unsafe {
            (self.encaps)(ct.as_mut_ptr(), &mut ct_bytes, ss.as_mut_ptr(), &mut ss_bytes, pk.as_ptr(), seed.as_ptr())
        };
        assert_eq!(status, 0, "{} encaps", self.set);
    }
    fn decaps(&self, sk: &[u8], ct: &[u8], ss: &mut [u8]) {
        let mut ss_bytes = ss.len();
        let status = unsafe { (self.decaps)(ss.as_mut_ptr(), &mut ss_bytes, ct.as_ptr(), sk.as_ptr()) };
        assert_eq!(status, 0, "{} decaps", self.set);
    }
}

/// The crate declares only what is in AWS-LC's public headers, and links all of it under names with its version.
macro_rules! functions {
    ($module:ident, $keypair:literal, $encaps:literal, $decaps:literal) => {
        mod $module {
            use libc::c_int;
            extern "C" {
                #[link_name = $keypair]
                pub fn keypair(pk: *mut u8, pk_len: *mut usize, sk: *mut u8, sk_len: *mut usize, seed: *const u8) -> c_int;
                #[link_name = $encaps]
                pub fn encaps(
                    ct: *mut u8, ct_len: *mut usize, ss: *mut u8, ss_len: *mut usize, pk: *const u8, seed: *const u8,
                ) -> c_int;
                #[link_name = $decaps]
                pub fn decaps(ss: *mut u8, ss_len: *mut usize, ct: *const u8, sk: *const u8) -> c_int;
            }
        }
    };
}

functions!(
    mlkem512,
    "aws_lc_0_47_0_ml_kem_512_keypair_deterministic",
    "aws_lc_0_47_0_ml_kem_512_encapsulate_deterministic",
    "aws_lc_0_47_0_ml_kem_512_decapsulate"
);
functions!(
    mlkem768,
    "aws_lc_0_47_0_ml_kem_768_keypair_deterministic",
    "aws_lc_0_47_0_ml_kem_768_encapsulate_deterministic",
    "aws_lc_0_47_0_ml_kem_768_decapsulate"
);
functions!(
    mlkem1024,
    "aws_lc_0_47_0_ml_kem_1024_keypair_deterministic",
    "aws_lc_0_47_0_ml_kem_1024_encapsulate_deterministic",
    "aws_lc_0_47_0_ml_kem_1024_decapsulate"
);

pub fn peers() -> Vec<Box<dyn Peer>> {
    // Names a function of the crate, so that its library is linked.
    unsafe { aws_lc_sys::ERR_clear_error() };
    let peer = |set, keypair, encaps, decaps| Box::new(AwsLc { set, keypair, encaps, decaps }) as Box<dyn Peer>;
    vec![
        peer("mlkem512", mlkem512::keypair, mlkem512::encaps, mlkem512::decaps),
        peer("mlkem768", mlkem768::keypair, mlkem768::encaps, mlkem768::decaps),
        peer("mlkem1024", mlkem1024::keypair, mlkem1024::encaps, mlkem1024::decaps),
    ]
}
