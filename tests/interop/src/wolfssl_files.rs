// SPDX-License-Identifier: Apache-2.0
//! wolfSSL as a program that keeps FrodoKEM's keys in files: SubjectPublicKeyInfo and PKCS #8 in DER, which its own functions write
//! and read. Ciphertexts and secrets are raw bytes.
use crate::{polykem::sizes, wolfssl, wolfssl_keys, Foreign};
use libc::{c_int, c_void};
use std::{fs, ptr::null_mut};

extern "C" {
    fn wc_FrodoKemKey_PublicKeyToDer(key: *mut c_void, output: *mut u8, length: u32, with_algorithm: c_int) -> c_int;
    fn wc_FrodoKemKey_PrivateKeyToDer(key: *mut c_void, output: *mut u8, length: u32) -> c_int;
    fn wc_FrodoKemKey_PublicKeyDecode(key: *mut c_void, input: *const u8, length: u32, place: *mut u32) -> c_int;
    fn wc_FrodoKemKey_PrivateKeyDecode(key: *mut c_void, input: *const u8, length: u32, place: *mut u32) -> c_int;
}

/// More than any of its keys has around its bytes.
const HEADER_BYTES: usize = 64;

/// A cache line, where a key object begins.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line(#[allow(dead_code)] [u8; 64]);

#[derive(Clone, Copy, PartialEq)]
enum Part {
    Public,
    Private,
}

/// What `work` returns for a key object of the set, which takes no key of another set.
fn with_key<T>(set: &str, work: impl FnOnce(&wolfssl_keys::Functions, *mut c_void) -> T) -> T {
    let functions = wolfssl_keys::frodo_functions();
    let mut memory = vec![Line([0; 64]); functions.key_bytes.div_ceil(64)];
    let key = memory.as_mut_ptr().cast::<c_void>();
    let kind = wolfssl_keys::frodo_kind(set).expect("a set of FrodoKEM");
    done(unsafe { (functions.init)(key, kind, null_mut(), wolfssl_keys::INVALID_DEVID) });
    let result = work(&functions, key);
    unsafe { (functions.free)(key) };
    result
}

fn done(status: c_int) {
    assert!(status >= 0, "wolfSSL: {status}");
}

fn to_der(set: &str, part: Part, raw: &[u8]) -> Vec<u8> {
    let mut der = vec![0; raw.len() + HEADER_BYTES];
    let (bytes, room) = (raw.len() as u32, der.len() as u32);
    let length = with_key(set, |functions, key| unsafe {
        if part == Part::Public {
            done((functions.decode_public)(key, raw.as_ptr(), bytes));
            wc_FrodoKemKey_PublicKeyToDer(key, der.as_mut_ptr(), room, 1)
        } else {
            done((functions.decode_private)(key, raw.as_ptr(), bytes));
            wc_FrodoKemKey_PrivateKeyToDer(key, der.as_mut_ptr(), room)
        }
    });
    done(length);
    der.truncate(length as usize);
    der
}

fn to_raw(set: &str, part: Part, der: &[u8]) -> Vec<u8> {
    let mut raw = vec![0; sizes(set)[part as usize]];
    let (bytes, room) = (der.len() as u32, raw.len() as u32);
    with_key(set, |functions, key| unsafe {
        if part == Part::Public {
            done(wc_FrodoKemKey_PublicKeyDecode(key, der.as_ptr(), bytes, &mut 0));
            done((functions.encode_public)(key, raw.as_mut_ptr(), room));
        } else {
            done(wc_FrodoKemKey_PrivateKeyDecode(key, der.as_ptr(), bytes, &mut 0));
            done((functions.encode_private)(key, raw.as_mut_ptr(), room));
        }
    });
    raw
}

fn read(path: &str) -> Vec<u8> {
    fs::read(path).expect(path)
}

fn write(path: &str, bytes: &[u8]) {
    fs::write(path, bytes).expect(path);
}

/// A command and its arguments, as main.rs lists them.
pub fn run(arguments: &[&str]) {
    let peer = |set: &str| -> Box<dyn Foreign> { wolfssl::sets().into_iter().find(|peer| peer.set() == set).expect("a set") };
    match *arguments {
        ["keygen", set, pk_path, sk_path] => {
            let (pk, sk) = peer(set).keygen();
            write(pk_path, &to_der(set, Part::Public, &pk));
            write(sk_path, &to_der(set, Part::Private, &sk));
        }
        ["encaps", set, pk_path, ct_path, ss_path] => {
            let (ct, ss) = peer(set).encaps(&to_raw(set, Part::Public, &read(pk_path)));
            write(ct_path, &ct);
            write(ss_path, &ss);
        }
        ["decaps", set, sk_path, ct_path, ss_path] => {
            write(ss_path, &peer(set).decaps(&to_raw(set, Part::Private, &read(sk_path)), &read(ct_path)));
        }
        _ => panic!("unknown command"),
    }
}
