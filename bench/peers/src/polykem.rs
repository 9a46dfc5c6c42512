// SPDX-License-Identifier: Apache-2.0
//! polykem through its C API.
use std::ffi::{CStr, CString};
use std::os::raw::{c_char, c_int, c_uint, c_void};
use std::ptr;

#[repr(C)]
struct Config {
    struct_size: usize,
    threads: c_uint,
    backend: *const c_char,
}

#[repr(C)]
struct SchemeInfo {
    struct_size: usize,
    name: *const c_char,
    family: *const c_char,
    title: *const c_char,
    security_category: u32,
    public_key_bytes: usize,
    secret_key_bytes: usize,
    ciphertext_bytes: usize,
    shared_secret_bytes: usize,
    keygen_draw_bytes: usize,
    encaps_draw_bytes: usize,
    secret_seed_bytes: usize,
}

extern "C" {
    fn polykem_context_new(config: *const Config, out: *mut *mut c_void) -> c_int;
    fn polykem_context_free(context: *mut c_void);
    fn polykem_context_backend(context: *const c_void, scheme: *const c_void) -> *const c_char;
    fn polykem_scheme_find(name: *const c_char, out: *mut *const c_void) -> c_int;
    fn polykem_scheme_info(scheme: *const c_void, out: *mut SchemeInfo) -> c_int;
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
const KEY_SHARED: c_int = 1;

/// One parameter set on one backend with a number of threads. Panics on any error: a benchmark cannot go on.
pub struct Polykem {
    context: *mut c_void,
    scheme: *const c_void,
    pub set: String,
    pub threads: u32,
    pub public_key_bytes: usize,
    pub secret_key_bytes: usize,
    pub ciphertext_bytes: usize,
    pub shared_secret_bytes: usize,
}

impl Polykem {
    /// `backend` None takes the best one here. None is returned if this machine cannot run it.
    pub fn new(set: &str, backend: Option<&str>, threads: u32) -> Option<Self> {
        let backend = backend.map(|name| CString::new(name).unwrap());
        let name = CString::new(set).unwrap();
        let mut context = ptr::null_mut();
        let mut scheme = ptr::null();
        let mut info = unsafe { std::mem::zeroed::<SchemeInfo>() };
        info.struct_size = std::mem::size_of::<SchemeInfo>();
        let config = Config {
            struct_size: std::mem::size_of::<Config>(),
            threads,
            backend: backend.as_ref().map_or(ptr::null(), |name| name.as_ptr()),
        };
        unsafe {
            if polykem_context_new(&config, &mut context) != 0 {
                return None;
            }
            assert_eq!(polykem_scheme_find(name.as_ptr(), &mut scheme), 0, "unknown set {set:?}");
            assert_eq!(polykem_scheme_info(scheme, &mut info), 0);
            if polykem_context_backend(context, scheme).is_null() {
                polykem_context_free(context);
                return None;
            }
        }
        Some(Self {
            context,
            scheme,
            set: set.to_owned(),
            threads,
            public_key_bytes: info.public_key_bytes,
            secret_key_bytes: info.secret_key_bytes,
            ciphertext_bytes: info.ciphertext_bytes,
            shared_secret_bytes: info.shared_secret_bytes,
        })
    }

    pub fn backend(&self) -> String {
        let name = unsafe { polykem_context_backend(self.context, self.scheme) };
        assert!(!name.is_null(), "no backend runs this set");
        unsafe { CStr::from_ptr(name) }.to_str().unwrap().to_owned()
    }

    pub fn keygen(&self, pk: &mut [u8], sk: &mut [u8]) {
        let count = pk.len() / self.public_key_bytes;
        let status = unsafe { polykem_keygen(self.context, self.scheme, count, pk.as_mut_ptr(), sk.as_mut_ptr()) };
        assert_eq!(status, 0, "polykem_keygen");
    }

    /// `pk` holds a key for every ciphertext, or one key for all.
    pub fn encaps(&self, pk: &[u8], ct: &mut [u8], ss: &mut [u8]) {
        let count = ct.len() / self.ciphertext_bytes;
        let mode = if pk.len() == count * self.public_key_bytes { KEY_PER_ITEM } else { KEY_SHARED };
        let (pk, ct, ss) = (pk.as_ptr(), ct.as_mut_ptr(), ss.as_mut_ptr());
        let status = unsafe { polykem_encaps(self.context, self.scheme, count, mode, pk, ct, ss, ptr::null_mut()) };
        assert_eq!(status, 0, "polykem_encaps");
    }

    pub fn decaps(&self, sk: &[u8], ct: &[u8], ss: &mut [u8]) {
        let count = ct.len() / self.ciphertext_bytes;
        let (sk, ct, ss) = (sk.as_ptr(), ct.as_ptr(), ss.as_mut_ptr());
        let status =
            unsafe { polykem_decaps(self.context, self.scheme, count, KEY_PER_ITEM, sk, ct, ss, ptr::null_mut()) };
        assert_eq!(status, 0, "polykem_decaps");
    }
}

impl Drop for Polykem {
    fn drop(&mut self) {
        unsafe { polykem_context_free(self.context) };
    }
}
