// SPDX-License-Identifier: Apache-2.0
//! polykem through its C API, in batches.
use std::ffi::CString;
use std::os::raw::{c_char, c_int, c_uint, c_void};
use std::ptr;

#[repr(C)]
struct Config {
    struct_size: usize,
    threads: c_uint,
    backend: *const c_char,
}

extern "C" {
    fn polykem_context_new(config: *const Config, out: *mut *mut c_void) -> c_int;
    fn polykem_context_free(context: *mut c_void);
    fn polykem_context_backend(context: *const c_void, scheme: *const c_void) -> *const c_char;
    fn polykem_scheme_find(name: *const c_char, out: *mut *const c_void) -> c_int;
    fn polykem_keygen(context: *mut c_void, scheme: *const c_void, count: usize, pk: *mut u8, sk: *mut u8) -> c_int;
    fn polykem_encaps(
        context: *mut c_void, scheme: *const c_void, count: usize, key_mode: c_int, pk: *const u8, ct: *mut u8, ss: *mut u8,
        item_status: *mut c_int,
    ) -> c_int;
    fn polykem_decaps(
        context: *mut c_void, scheme: *const c_void, count: usize, key_mode: c_int, sk: *const u8, ct: *const u8, ss: *mut u8,
        item_status: *mut c_int,
    ) -> c_int;
}

const KEY_PER_ITEM: c_int = 0;

/// Bytes of a record as the specifications state them: public key, secret key, ciphertext, shared secret.
/// [FIPS203, Table 3; NTRU20; FRODO21, Table 5; FrodoKEM's salt is in its ciphertext; RFC10024]
pub fn sizes(set: &str) -> [usize; 4] {
    match set.trim_end_matches("aes").trim_end_matches("shake") {
        "mlkem512" => [800, 1632, 768, 32],
        "mlkem768" => [1184, 2400, 1088, 32],
        "mlkem1024" => [1568, 3168, 1568, 32],
        "x25519mlkem768" => [1216, 2432, 1120, 64],
        "secp256r1mlkem768" => [1249, 2432, 1153, 64],
        "ntruhps2048509" => [699, 935, 699, 32],
        "ntruhps2048677" => [930, 1234, 930, 32],
        "ntruhps4096821" => [1230, 1590, 1230, 32],
        "ntruhrss701" => [1138, 1450, 1138, 32],
        "efrodokem640" => [9616, 19888, 9720, 16],
        "efrodokem976" => [15632, 31296, 15744, 24],
        "efrodokem1344" => [21520, 43088, 21632, 32],
        "frodokem640" => [9616, 19888, 9752, 16],
        "frodokem976" => [15632, 31296, 15792, 24],
        "frodokem1344" => [21520, 43088, 21696, 32],
        _ => panic!("no sizes of {set}"),
    }
}

/// One parameter set on one backend.
pub struct Polykem {
    context: *mut c_void,
    scheme: *const c_void,
    pk_bytes: usize,
    sk_bytes: usize,
    ct_bytes: usize,
    ss_bytes: usize,
}

impl Polykem {
    /// None if this machine cannot run the backend.
    pub fn new(set: &str, backend: &str) -> Option<Self> {
        let backend = CString::new(backend).unwrap();
        let name = CString::new(set).unwrap();
        let [pk_bytes, sk_bytes, ct_bytes, ss_bytes] = sizes(set);
        let mut context = ptr::null_mut();
        let mut scheme = ptr::null();
        let config = Config { struct_size: std::mem::size_of::<Config>(), threads: 1, backend: backend.as_ptr() };
        unsafe {
            assert_eq!(polykem_scheme_find(name.as_ptr(), &mut scheme), 0, "unknown set {set}");
            if polykem_context_new(&config, &mut context) != 0 {
                return None;
            }
        }
        let ours = Self { context, scheme, pk_bytes, sk_bytes, ct_bytes, ss_bytes };
        (!unsafe { polykem_context_backend(context, scheme) }.is_null()).then_some(ours)
    }

    /// Public keys, secret keys.
    pub fn keygen(&self, count: usize) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
        let (mut pk, mut sk) = (vec![0; count * self.pk_bytes], vec![0; count * self.sk_bytes]);
        let status = unsafe { polykem_keygen(self.context, self.scheme, count, pk.as_mut_ptr(), sk.as_mut_ptr()) };
        assert_eq!(status, 0, "polykem_keygen");
        (split(&pk, self.pk_bytes), split(&sk, self.sk_bytes))
    }

    /// Ciphertexts, shared secrets.
    pub fn encaps(&self, pk: &[u8]) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
        assert_eq!(pk.len() % self.pk_bytes, 0);
        let count = pk.len() / self.pk_bytes;
        let (mut ct, mut ss) = (vec![0; count * self.ct_bytes], vec![0; count * self.ss_bytes]);
        let (out, secrets) = (ct.as_mut_ptr(), ss.as_mut_ptr());
        let status = unsafe {
            polykem_encaps(self.context, self.scheme, count, KEY_PER_ITEM, pk.as_ptr(), out, secrets, ptr::null_mut())
        };
        assert_eq!(status, 0, "polykem_encaps");
        (split(&ct, self.ct_bytes), split(&ss, self.ss_bytes))
    }

    pub fn decaps(&self, sk: &[u8], ct: &[u8]) -> Vec<Vec<u8>> {
        let count = sk.len() / self.sk_bytes;
        assert_eq!((sk.len(), ct.len()), (count * self.sk_bytes, count * self.ct_bytes));
        let mut ss = vec![0; count * self.ss_bytes];
        let secrets = ss.as_mut_ptr();
        let status = unsafe {
            polykem_decaps(self.context, self.scheme, count, KEY_PER_ITEM, sk.as_ptr(), ct.as_ptr(), secrets, ptr::null_mut())
        };
        assert_eq!(status, 0, "polykem_decaps");
        split(&ss, self.ss_bytes)
    }
}

impl Drop for Polykem {
    fn drop(&mut self) {
        unsafe { polykem_context_free(self.context) };
    }
}

fn split(records: &[u8], bytes: usize) -> Vec<Vec<u8>> {
    records.chunks_exact(bytes).map(<[u8]>::to_vec).collect()
}
