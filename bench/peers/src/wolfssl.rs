// SPDX-License-Identifier: Apache-2.0
//! wolfSSL 5.9.4: whole operations in AVX-512 or AVX2 assembly, which it chooses at run time. Its keys are objects: bytes are read
//! into one in every call, or once where there is one key for all and where keys are parsed beforehand.
//!
//! wolfSSL is under the GPL: it is part of this benchmark only, and nothing of it is in what polykem ships.
use crate::peer::{Peer, Receiver, Sender};
use crate::random;
use libc::{c_int, c_void};
use std::alloc::{alloc, dealloc, Layout};
use std::ptr::null_mut;
use std::rc::Rc;

type Key = *mut c_void;
pub const INVALID_DEVID: c_int = -2;
/// Flags of the types of keys.
const KYBER: c_int = 0x10;
const FRODO_AES: c_int = 0x10;
const FRODO_EPHEMERAL: c_int = 0x20;
const MOST_COINS: usize = 256;

/// The functions of wolfSSL for one kind of key.
pub struct Functions {
    pub key_bytes: usize,
    pub init: unsafe extern "C" fn(Key, c_int, *mut c_void, c_int) -> c_int,
    pub free: unsafe extern "C" fn(Key) -> c_int,
    make: unsafe extern "C" fn(Key, *const u8, c_int) -> c_int,
    encapsulate: unsafe extern "C" fn(Key, *mut u8, *mut u8, *const u8, c_int) -> c_int,
    decapsulate: unsafe extern "C" fn(Key, *mut u8, *const u8, u32) -> c_int,
    pub decode_private: unsafe extern "C" fn(Key, *const u8, u32) -> c_int,
    pub decode_public: unsafe extern "C" fn(Key, *const u8, u32) -> c_int,
    pub encode_private: unsafe extern "C" fn(Key, *mut u8, u32) -> c_int,
    pub encode_public: unsafe extern "C" fn(Key, *mut u8, u32) -> c_int,
}

macro_rules! functions {
    ($module:ident, $key_bytes:literal, $init:literal, $free:literal, $make:literal, $encapsulate:literal,
     $decapsulate:literal, $decode_private:literal, $decode_public:literal, $encode_private:literal, $encode_public:literal) => {
        mod $module {
            use super::{c_int, c_void, Functions, Key};
            extern "C" {
                #[link_name = $key_bytes]
                static KEY_BYTES: usize;
                #[link_name = $init]
                fn init(key: Key, kind: c_int, heap: *mut c_void, device: c_int) -> c_int;
                #[link_name = $free]
                fn free(key: Key) -> c_int;
                #[link_name = $make]
                fn make(key: Key, coins: *const u8, length: c_int) -> c_int;
                #[link_name = $encapsulate]
                fn encapsulate(key: Key, ct: *mut u8, ss: *mut u8, coins: *const u8, length: c_int) -> c_int;
                #[link_name = $decapsulate]
                fn decapsulate(key: Key, ss: *mut u8, ct: *const u8, length: u32) -> c_int;
                #[link_name = $decode_private]
                fn decode_private(key: Key, bytes: *const u8, length: u32) -> c_int;
                #[link_name = $decode_public]
                fn decode_public(key: Key, bytes: *const u8, length: u32) -> c_int;
                #[link_name = $encode_private]
                fn encode_private(key: Key, bytes: *mut u8, length: u32) -> c_int;
                #[link_name = $encode_public]
                fn encode_public(key: Key, bytes: *mut u8, length: u32) -> c_int;
            }
            pub fn all() -> Functions {
                let key_bytes = unsafe { KEY_BYTES };
                Functions {
                    key_bytes, init, free, make, encapsulate, decapsulate, decode_private, decode_public, encode_private,
                    encode_public,
                }
            }
        }
    };
}

functions!(
    mlkem,
    "polykem_wolfssl_mlkem_key_bytes",
    "wc_MlKemKey_Init",
    "wc_MlKemKey_Free",
    "wc_MlKemKey_MakeKeyWithRandom",
    "wc_MlKemKey_EncapsulateWithRandom",
    "wc_MlKemKey_Decapsulate",
    "wc_MlKemKey_DecodePrivateKey",
    "wc_MlKemKey_DecodePublicKey",
    "wc_MlKemKey_EncodePrivateKey",
    "wc_MlKemKey_EncodePublicKey"
);
functions!(
    frodo,
    "polykem_wolfssl_frodo_key_bytes",
    "wc_FrodoKemKey_Init",
    "wc_FrodoKemKey_Free",
    "wc_FrodoKemKey_MakeKeyWithRandom",
    "wc_FrodoKemKey_EncapsulateWithRandom",
    "wc_FrodoKemKey_Decapsulate",
    "wc_FrodoKemKey_DecodePrivateKey",
    "wc_FrodoKemKey_DecodePublicKey",
    "wc_FrodoKemKey_EncodePrivateKey",
    "wc_FrodoKemKey_EncodePublicKey"
);

fn done(status: c_int) {
    assert_eq!(status, 0, "wolfSSL");
}

/// A parameter set: its functions, its type of key, and the bytes of the random numbers that operations take.
struct Set {
    functions: Functions,
    kind: c_int,
    keygen_coins: usize,
    encaps_coins: usize,
}

/// Memory of a key object, used again and again: an object is a key from `init` to `free`.
struct Object {
    set: Rc<Set>,
    key: Key,
}

impl Object {
    fn layout(set: &Set) -> Layout {
        Layout::from_size_align(set.functions.key_bytes, 64).unwrap()
    }

    fn new(set: &Rc<Set>) -> Self {
        let key = unsafe { alloc(Self::layout(set)) }.cast::<c_void>();
        assert!(!key.is_null());
        Self { set: set.clone(), key }
    }

    fn init(&self) {
        done(unsafe { (self.set.functions.init)(self.key, self.set.kind, null_mut(), INVALID_DEVID) });
    }

    fn read_public(&self, pk: &[u8]) {
        self.init();
        done(unsafe { (self.set.functions.decode_public)(self.key, pk.as_ptr(), pk.len() as u32) });
    }

    fn read_private(&self, sk: &[u8]) {
        self.init();
        done(unsafe { (self.set.functions.decode_private)(self.key, sk.as_ptr(), sk.len() as u32) });
    }

    fn make(&self, pk: &mut [u8], sk: &mut [u8]) {
        let (functions, coins) = (&self.set.functions, random::array::<MOST_COINS>());
        self.init();
        unsafe {
            done((functions.make)(self.key, coins.as_ptr(), self.set.keygen_coins as c_int));
            done((functions.encode_public)(self.key, pk.as_mut_ptr(), pk.len() as u32));
            done((functions.encode_private)(self.key, sk.as_mut_ptr(), sk.len() as u32));
        }
    }

    fn encaps(&self, ct: &mut [u8], ss: &mut [u8]) {
        let coins = random::array::<MOST_COINS>();
        let length = self.set.encaps_coins as c_int;
        let encapsulate = self.set.functions.encapsulate;
        done(unsafe { encapsulate(self.key, ct.as_mut_ptr(), ss.as_mut_ptr(), coins.as_ptr(), length) });
    }

    fn decaps(&self, ct: &[u8], ss: &mut [u8]) {
        let decapsulate = self.set.functions.decapsulate;
        done(unsafe { decapsulate(self.key, ss.as_mut_ptr(), ct.as_ptr(), ct.len() as u32) });
    }

    fn free(&self) {
        unsafe { (self.set.functions.free)(self.key) };
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        unsafe { dealloc(self.key.cast::<u8>(), Self::layout(&self.set)) };
    }
}

struct WolfSsl {
    name: &'static str,
    object: Object,
}

impl WolfSsl {
    fn new(name: &'static str, functions: Functions, kind: c_int, keygen_coins: usize, encaps_coins: usize) -> Box<dyn Peer> {
        let set = Rc::new(Set { functions, kind, keygen_coins, encaps_coins });
        Box::new(Self { name, object: Object::new(&set) })
    }
}

impl Peer for WolfSsl {
    fn name(&self) -> String {
        "wolfSSL 5.9.4".to_owned()
    }
    fn set(&self) -> &'static str {
        self.name
    }
    fn keygen(&self, pk: &mut [u8], sk: &mut [u8]) {
        self.object.make(pk, sk);
        self.object.free();
    }
    fn encaps(&self, pk: &[u8], ct: &mut [u8], ss: &mut [u8]) {
        self.object.read_public(pk);
        self.object.encaps(ct, ss);
        self.object.free();
    }
    fn decaps(&self, sk: &[u8], ct: &[u8], ss: &mut [u8]) {
        self.object.read_private(sk);
        self.object.decaps(ct, ss);
        self.object.free();
    }
    fn read_public(&self, pk: &[u8]) -> Option<Sender> {
        let key = Object::new(&self.object.set);
        key.read_public(pk);
        Some(Box::new(move |ct, ss| key.encaps(ct, ss)))
    }
    fn parse_secret(&self, sk: &[u8]) -> Option<Receiver> {
        let key = Object::new(&self.object.set);
        key.read_private(sk);
        Some(Box::new(move |ct, ss| key.decaps(ct, ss)))
    }
}

/// Names of FrodoKEM's sets by size: SHAKE, AES, and both without a salt.
const FRODO: [[&str; 4]; 3] = [
    ["frodokem640shake", "frodokem640aes", "efrodokem640shake", "efrodokem640aes"],
    ["frodokem976shake", "frodokem976aes", "efrodokem976shake", "efrodokem976aes"],
    ["frodokem1344shake", "frodokem1344aes", "efrodokem1344shake", "efrodokem1344aes"],
];

fn frodo_type(size: usize, variant: usize) -> c_int {
    let (aes, ephemeral) = (variant % 2 == 1, variant >= 2);
    size as c_int | if aes { FRODO_AES } else { 0 } | if ephemeral { FRODO_EPHEMERAL } else { 0 }
}

/// wolfSSL's type of the keys of a set of FrodoKEM, for tests/interop.
#[allow(dead_code)]
pub fn frodo_kind(set: &str) -> Option<c_int> {
    let found = |size: usize| FRODO[size].iter().position(|&name| name == set).map(|variant| frodo_type(size, variant));
    (0..FRODO.len()).find_map(found)
}

#[allow(dead_code)]
pub fn frodo_functions() -> Functions {
    frodo::all()
}

extern "C" {
    fn polykem_wolfssl_leave_out_avx512();
}

/// Makes wolfSSL, which chooses its code at run time, do without AVX-512 from now on.
pub fn leave_out_avx512() {
    unsafe { polykem_wolfssl_leave_out_avx512() };
}

pub fn peers() -> Vec<Box<dyn Peer>> {
    let mut all = vec![];
    for (kind, name) in ["mlkem512", "mlkem768", "mlkem1024"].into_iter().enumerate() {
        all.push(WolfSsl::new(name, mlkem::all(), kind as c_int, 64, 32));
    }
    for (kind, name) in ["kyber512", "kyber768", "kyber1024"].into_iter().enumerate() {
        all.push(WolfSsl::new(name, mlkem::all(), kind as c_int | KYBER, 64, 32));
    }
    for (size, names) in FRODO.into_iter().enumerate() {
        let secret = [16, 24, 32][size]; // bytes of a shared secret; seedSE and the salt have twice as many
        for (variant, name) in names.into_iter().enumerate() {
            let (seed, salt) = if variant >= 2 { (secret, 0) } else { (2 * secret, 2 * secret) };
            all.push(WolfSsl::new(name, frodo::all(), frodo_type(size, variant), secret + seed + 16, secret + salt));
        }
    }
    all
}
