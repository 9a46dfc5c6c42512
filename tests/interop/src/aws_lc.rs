// SPDX-License-Identifier: Apache-2.0
//! ML-KEM of AWS-LC, through its C API.
use aws_lc_sys::*;
use std::ptr;

use crate::Foreign;

struct AwsLc {
    set: &'static str,
    nid: i32,
}

pub fn sets() -> Vec<Box<dyn Foreign>> {
    [("mlkem512", NID_MLKEM512), ("mlkem768", NID_MLKEM768), ("mlkem1024", NID_MLKEM1024)]
        .into_iter()
        .map(|(set, nid)| Box::new(AwsLc { set, nid }) as Box<dyn Foreign>)
        .collect()
}

/// A key of theirs; freed with this object.
struct Key(*mut EVP_PKEY);

impl Drop for Key {
    fn drop(&mut self) {
        unsafe { EVP_PKEY_free(self.0) };
    }
}

struct Context(*mut EVP_PKEY_CTX);

impl Drop for Context {
    fn drop(&mut self) {
        unsafe { EVP_PKEY_CTX_free(self.0) };
    }
}

impl Key {
    fn context(&self) -> Context {
        let context = unsafe { EVP_PKEY_CTX_new(self.0, ptr::null_mut()) };
        assert!(!context.is_null(), "EVP_PKEY_CTX_new");
        Context(context)
    }
}

type GetRaw = unsafe extern "C" fn(*const EVP_PKEY, *mut u8, *mut usize) -> i32;

fn raw(key: &Key, get: GetRaw) -> Vec<u8> {
    let mut bytes = 0;
    assert_eq!(unsafe { get(key.0, ptr::null_mut(), &mut bytes) }, 1);
    let mut out = vec![0; bytes];
    assert_eq!(unsafe { get(key.0, out.as_mut_ptr(), &mut bytes) }, 1);
    out
}

impl Foreign for AwsLc {
    fn name(&self) -> String {
        "AWS-LC".to_string()
    }

    fn set(&self) -> &'static str {
        self.set
    }

    fn keygen(&self) -> (Vec<u8>, Vec<u8>) {
        let mut key = ptr::null_mut();
        unsafe {
            let context = Context(EVP_PKEY_CTX_new_id(EVP_PKEY_KEM, ptr::null_mut()));
            assert_eq!(EVP_PKEY_CTX_kem_set_params(context.0, self.nid), 1);
            assert_eq!(EVP_PKEY_keygen_init(context.0), 1);
            assert_eq!(EVP_PKEY_keygen(context.0, &mut key), 1);
        }
        let key = Key(key);
        (raw(&key, EVP_PKEY_get_raw_public_key), raw(&key, EVP_PKEY_get_raw_private_key))
    }

    fn encaps(&self, pk: &[u8]) -> (Vec<u8>, Vec<u8>) {
        let key = Key(unsafe { EVP_PKEY_kem_new_raw_public_key(self.nid, pk.as_ptr(), pk.len()) });
        assert!(!key.0.is_null(), "they refuse our public key");
        let (mut ct_bytes, mut ss_bytes) = (0, 0);
        let context = key.context();
        unsafe {
            let (none, no_secret) = (ptr::null_mut(), ptr::null_mut());
            assert_eq!(EVP_PKEY_encapsulate(context.0, none, &mut ct_bytes, no_secret, &mut ss_bytes), 1);
            let (mut ct, mut ss) = (vec![0; ct_bytes], vec![0; ss_bytes]);
            let (out, secret) = (ct.as_mut_ptr(), ss.as_mut_ptr());
            assert_eq!(EVP_PKEY_encapsulate(context.0, out, &mut ct_bytes, secret, &mut ss_bytes), 1);
            (ct, ss)
        }
    }

    fn decaps(&self, sk: &[u8], ct: &[u8]) -> Vec<u8> {
        let key = Key(unsafe { EVP_PKEY_kem_new_raw_secret_key(self.nid, sk.as_ptr(), sk.len()) });
        assert!(!key.0.is_null(), "they refuse our secret key");
        let context = key.context();
        let mut bytes = 0;
        unsafe {
            assert_eq!(EVP_PKEY_decapsulate(context.0, ptr::null_mut(), &mut bytes, ct.as_ptr(), ct.len()), 1);
            let mut ss = vec![0; bytes];
            assert_eq!(EVP_PKEY_decapsulate(context.0, ss.as_mut_ptr(), &mut bytes, ct.as_ptr(), ct.len()), 1);
            ss
        }
    }
}
