// SPDX-License-Identifier: Apache-2.0
//! liboqs 0.13 as the crate oqs-sys carries it, compiled for one CPU (what it can use is settled then, there is no dispatch at run time):
//! mlkem-native and Kyber with their AVX2 assembly, FrodoKEM with AVX2 and OpenSSL's AES, four-way Keccak.
use crate::peer::{Decaps, Encaps, Functions, Keypair, Peer};
use crate::{random, CPU};
use oqs_sys::{common, kem, rand};
use std::ffi::CString;
use std::mem::transmute;

/// polykem's name, liboqs' name, and whether they are the same scheme.
const SETS: [(&str, &str, bool); 18] = [
    ("mlkem512", "ML-KEM-512", true),
    ("mlkem768", "ML-KEM-768", true),
    ("mlkem1024", "ML-KEM-1024", true),
    ("kyber512", "Kyber512", true),
    ("kyber768", "Kyber768", true),
    ("kyber1024", "Kyber1024", true),
    ("efrodokem640aes", "FrodoKEM-640-AES", true),
    ("efrodokem640shake", "FrodoKEM-640-SHAKE", true),
    ("efrodokem976aes", "FrodoKEM-976-AES", true),
    ("efrodokem976shake", "FrodoKEM-976-SHAKE", true),
    ("efrodokem1344aes", "FrodoKEM-1344-AES", true),
    ("efrodokem1344shake", "FrodoKEM-1344-SHAKE", true),
    ("frodokem640aes", "FrodoKEM-640-AES", false),
    ("frodokem640shake", "FrodoKEM-640-SHAKE", false),
    ("frodokem976aes", "FrodoKEM-976-AES", false),
    ("frodokem976shake", "FrodoKEM-976-SHAKE", false),
    ("frodokem1344aes", "FrodoKEM-1344-AES", false),
    ("frodokem1344shake", "FrodoKEM-1344-SHAKE", false),
];

fn peer(set: &'static str, method: &str, compatible: bool) -> Box<dyn Peer> {
    let method = CString::new(method).unwrap();
    let kem = unsafe { kem::OQS_KEM_new(method.as_ptr()).as_ref() }.expect("a method of this build of liboqs");
    // OQS_STATUS is an int; the functions are those that OQS_KEM_keypair and the others call.
    unsafe {
        Box::new(Functions {
            // It has no salted FrodoKEM, only round 3, which differs by a few bytes hashed.
            name: format!("liboqs 0.13, {CPU}{}", if compatible { "" } else { ", unsalted" }),
            set,
            compatible,
            keypair: transmute::<_, Keypair>(kem.keypair.unwrap()),
            encaps: transmute::<_, Encaps>(kem.encaps.unwrap()),
            decaps: transmute::<_, Decaps>(kem.decaps.unwrap()),
        })
    }
}

/// Every set that both sides have.
pub fn peers() -> Vec<Box<dyn Peer>> {
    unsafe {
        common::OQS_init();
        rand::OQS_randombytes_custom_algorithm(Some(random::polykem_peers_random));
    }
    SETS.iter().map(|&(set, method, compatible)| peer(set, method, compatible)).collect()
}
