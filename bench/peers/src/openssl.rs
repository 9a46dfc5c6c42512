// SPDX-License-Identifier: Apache-2.0
//! OpenSSL's ML-KEM through its EVP interface. Its keys are objects: a public key is read from its bytes where every item
//! has its own, and kept where there is one for all; secret keys are read before anything is timed.
use crate::peer::{Peer, Receiver, Sender};
use crate::random;
use libc::{c_char, c_int, c_void};
use openssl_sys::*;
use std::ptr::{null, null_mut};

/// A parameter of that name, and the end of the list. The bytes must outlive it.
pub fn octets(name: &'static [u8], bytes: &mut [u8]) -> [OSSL_PARAM; 2] {
    let name = name.as_ptr().cast::<c_char>();
    unsafe {
        [
            OSSL_PARAM_construct_octet_string(name, bytes.as_mut_ptr().cast::<c_void>(), bytes.len()),
            OSSL_PARAM_construct_end(),
        ]
    }
}

fn done(status: c_int) {
    assert_eq!(status, 1, "OpenSSL: {}", unsafe { ERR_get_error() });
}

pub fn version() -> String {
    let version = unsafe { std::ffi::CStr::from_ptr(OpenSSL_version(OPENSSL_VERSION)) };
    version.to_string_lossy().split(' ').take(2).collect::<Vec<_>>().join(" ")
}

/// A key, and what is needed to use it again and again.
struct Key {
    key: *mut EVP_PKEY,
    context: *mut EVP_PKEY_CTX,
}

impl Key {
    fn new(key: *mut EVP_PKEY) -> Self {
        assert!(!key.is_null(), "OpenSSL did not take a key");
        let context = unsafe { EVP_PKEY_CTX_new(key, null_mut()) };
        assert!(!context.is_null());
        Self { key, context }
    }

    fn sender(name: &'static [u8], pk: &[u8]) -> Self {
        let name = name.as_ptr().cast::<c_char>();
        let this =
            Self::new(unsafe { EVP_PKEY_new_raw_public_key_ex(null_mut(), name, null(), pk.as_ptr(), pk.len()) });
        done(unsafe { EVP_PKEY_encapsulate_init(this.context, null()) });
        this
    }

    fn receiver(name: &'static [u8], sk: &[u8]) -> Self {
        let name = name.as_ptr().cast::<c_char>();
        let this =
            Self::new(unsafe { EVP_PKEY_new_raw_private_key_ex(null_mut(), name, null(), sk.as_ptr(), sk.len()) });
        done(unsafe { EVP_PKEY_decapsulate_init(this.context, null()) });
        this
    }

    fn encaps(&self, ct: &mut [u8], ss: &mut [u8]) {
        let mut message: [u8; 32] = random::array();
        let (mut ct_bytes, mut ss_bytes) = (ct.len(), ss.len());
        unsafe {
            done(EVP_PKEY_CTX_set_params(self.context, octets(b"ikme\0", &mut message).as_ptr()));
            done(EVP_PKEY_encapsulate(self.context, ct.as_mut_ptr(), &mut ct_bytes, ss.as_mut_ptr(), &mut ss_bytes));
        }
    }

    fn decaps(&self, ct: &[u8], ss: &mut [u8]) {
        let mut ss_bytes = ss.len();
        done(unsafe { EVP_PKEY_decapsulate(self.context, ss.as_mut_ptr(), &mut ss_bytes, ct.as_ptr(), ct.len()) });
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        unsafe {
            EVP_PKEY_CTX_free(self.context);
            EVP_PKEY_free(self.key);
        }
    }
}

struct OpenSsl {
    set: &'static str,
    /// OpenSSL's, with a zero at its end.
    name: &'static [u8],
    generator: *mut EVP_PKEY_CTX,
}

impl OpenSsl {
    fn new(set: &'static str, name: &'static [u8]) -> Self {
        let generator = unsafe { EVP_PKEY_CTX_new_from_name(null_mut(), name.as_ptr().cast::<c_char>(), null()) };
        assert!(!generator.is_null());
        done(unsafe { EVP_PKEY_keygen_init(generator) });
        Self { set, name, generator }
    }
}

impl Peer for OpenSsl {
    fn name(&self) -> String {
        version()
    }
    fn set(&self) -> &'static str {
        self.set
    }
    fn keygen(&self, pk: &mut [u8], sk: &mut [u8]) {
        let mut seed: [u8; 64] = random::array();
        let (mut key, mut pk_bytes, mut sk_bytes) = (null_mut(), pk.len(), sk.len());
        unsafe {
            done(EVP_PKEY_CTX_set_params(self.generator, octets(b"seed\0", &mut seed).as_ptr()));
            done(EVP_PKEY_keygen(self.generator, &mut key));
            done(EVP_PKEY_get_raw_public_key(key, pk.as_mut_ptr(), &mut pk_bytes));
            done(EVP_PKEY_get_raw_private_key(key, sk.as_mut_ptr(), &mut sk_bytes));
            EVP_PKEY_free(key);
        }
    }
    fn encaps(&self, pk: &[u8], ct: &mut [u8], ss: &mut [u8]) {
        Key::sender(self.name, pk).encaps(ct, ss);
    }
    fn decaps(&self, sk: &[u8], ct: &[u8], ss: &mut [u8]) {
        Key::receiver(self.name, sk).decaps(ct, ss);
    }
    fn read_public(&self, pk: &[u8]) -> Option<Sender> {
        let key = Key::sender(self.name, pk);
        Some(Box::new(move |ct, ss| key.encaps(ct, ss)))
    }
    fn read_secret(&self, sk: &[u8]) -> Option<Receiver> {
        let key = Key::receiver(self.name, sk);
        Some(Box::new(move |ct, ss| key.decaps(ct, ss)))
    }
}

impl Drop for OpenSsl {
    fn drop(&mut self) {
        unsafe { EVP_PKEY_CTX_free(self.generator) };
    }
}

pub fn peers() -> Vec<Box<dyn Peer>> {
    vec![
        Box::new(OpenSsl::new("mlkem512", b"ML-KEM-512\0")),
        Box::new(OpenSsl::new("mlkem768", b"ML-KEM-768\0")),
        Box::new(OpenSsl::new("mlkem1024", b"ML-KEM-1024\0")),
    ]
}
