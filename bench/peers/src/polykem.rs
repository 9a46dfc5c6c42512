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
    keygen_coin_bytes: usize,
    encaps_coin_bytes: usize,
    secret_seed_bytes: usize,
    public_key_at: usize,
    research: c_int,
    signature_bytes: usize,
    sign_coin_bytes: usize,
}

/// polykem_strings: all of one width.
#[repr(C)]
struct Strings {
    data: *const u8,
    offsets: *const usize,
    width: usize,
    shared: c_int,
}

/// polykem_messages.
#[repr(C)]
struct Messages {
    struct_size: usize,
    kind: c_int,
    strings: Strings,
    contexts: Strings,
    digest_oid: *const u8,
    digest_oid_bytes: usize,
    deterministic: c_int,
}

/// polykem_request.
#[repr(C)]
struct Request {
    struct_size: usize,
    op: c_int,
    key_mode: c_int,
    scheme: *const c_void,
    count: usize,
    coins: *const u8,
    pk: *const u8,
    sk: *const u8,
    ct: *const u8,
    pk_out: *mut u8,
    sk_out: *mut u8,
    ct_out: *mut u8,
    ss_out: *mut u8,
    item_status: *mut c_int,
    keyset: *const c_void,
    key_index: *const usize,
    secret_form: c_int,
    flags: u32,
    messages: *const Messages,
    sig: *const u8,
    sig_out: *mut u8,
}

extern "C" {
    fn polykem_run(context: *mut c_void, request: *const Request) -> c_int;
    fn polykem_keyset_import(
        context: *mut c_void, scheme: *const c_void, kind: c_int, count: usize, keys: *const u8, out: *mut *mut c_void,
    ) -> c_int;
    fn polykem_keyset_free(keyset: *mut c_void);
    fn polykem_context_new(config: *const Config, out: *mut *mut c_void) -> c_int;
    fn polykem_context_free(context: *mut c_void);
    fn polykem_context_backend(context: *const c_void, scheme: *const c_void) -> *const c_char;
    fn polykem_scheme_find(name: *const c_char, out: *mut *const c_void) -> c_int;
    fn polykem_signature_find(name: *const c_char, out: *mut *const c_void) -> c_int;
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

const ENCAPS: c_int = 1;
const DECAPS: c_int = 2;
const SIGN: c_int = 3;
const VERIFY: c_int = 4;
const PUBLIC_KEYS: c_int = 0;
const SECRET_KEYS: c_int = 1;
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
    pub signature_bytes: usize,
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
            let found = polykem_scheme_find(name.as_ptr(), &mut scheme) == 0;
            assert!(found || polykem_signature_find(name.as_ptr(), &mut scheme) == 0, "unknown set {set:?}");
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
            signature_bytes: info.signature_bytes,
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

    fn request(&self, op: c_int, count: usize) -> Request {
        let request = unsafe { std::mem::zeroed::<Request>() };
        let (scheme, struct_size) = (self.scheme, std::mem::size_of::<Request>());
        Request { struct_size, op, scheme, count, ..request }
    }

    fn run(&self, request: &Request, what: &str) {
        assert_eq!(unsafe { polykem_run(self.context, request) }, 0, "polykem_run: {what}");
    }

    /// polykem_messages of `count` messages.
    fn messages(messages: &[u8], count: usize) -> Messages {
        let all = unsafe { std::mem::zeroed::<Messages>() };
        let strings = Strings { data: messages.as_ptr(), offsets: ptr::null(), width: messages.len() / count, shared: 0 };
        Messages { struct_size: std::mem::size_of::<Messages>(), strings, ..all }
    }

    /// `sk` holds a key for every signature, or one key for all.
    pub fn sign(&self, sk: &[u8], messages: &[u8], sig: &mut [u8]) {
        let count = sig.len() / self.signature_bytes;
        let messages = Self::messages(messages, count);
        let key_mode = if sk.len() == count * self.secret_key_bytes { KEY_PER_ITEM } else { KEY_SHARED };
        let request = Request { key_mode, sk: sk.as_ptr(), sig_out: sig.as_mut_ptr(), ..self.request(SIGN, count) };
        self.run(&Request { messages: &messages, ..request }, "sign");
    }

    /// `pk` likewise. Whether all signatures are valid.
    pub fn verify(&self, pk: &[u8], messages: &[u8], sig: &[u8]) -> bool {
        let count = sig.len() / self.signature_bytes;
        let messages = Self::messages(messages, count);
        let key_mode = if pk.len() == count * self.public_key_bytes { KEY_PER_ITEM } else { KEY_SHARED };
        let request = Request { key_mode, pk: pk.as_ptr(), sig: sig.as_ptr(), ..self.request(VERIFY, count) };
        (unsafe { polykem_run(self.context, &Request { messages: &messages, ..request }) }) == 0
    }
}

/// Public and secret keys that polykem has read before.
pub struct KeySets<'a> {
    ours: &'a Polykem,
    public: *mut c_void,
    secret: *mut c_void,
}

impl<'a> KeySets<'a> {
    pub fn new(ours: &'a Polykem, pk: &[u8], sk: &[u8]) -> Self {
        let import = |kind, keys: &[u8], bytes| {
            let mut set = ptr::null_mut();
            let count = keys.len() / bytes;
            let status =
                unsafe { polykem_keyset_import(ours.context, ours.scheme, kind, count, keys.as_ptr(), &mut set) };
            assert_eq!(status, 0, "polykem_keyset_import");
            set
        };
        let public = import(PUBLIC_KEYS, pk, ours.public_key_bytes);
        Self { ours, public, secret: import(SECRET_KEYS, sk, ours.secret_key_bytes) }
    }

    fn request(&self, op: c_int, keyset: *mut c_void, count: usize) -> Request {
        Request { keyset, ..self.ours.request(op, count) }
    }

    pub fn encaps(&self, ct: &mut [u8], ss: &mut [u8]) {
        let request = self.request(ENCAPS, self.public, ct.len() / self.ours.ciphertext_bytes);
        self.ours.run(&Request { ct_out: ct.as_mut_ptr(), ss_out: ss.as_mut_ptr(), ..request }, "encaps with a key set");
    }

    pub fn decaps(&self, ct: &[u8], ss: &mut [u8]) {
        let request = self.request(DECAPS, self.secret, ct.len() / self.ours.ciphertext_bytes);
        self.ours.run(&Request { ct: ct.as_ptr(), ss_out: ss.as_mut_ptr(), ..request }, "decaps with a key set");
    }

    /// All with the first key.
    pub fn sign(&self, messages: &[u8], sig: &mut [u8]) {
        let count = sig.len() / self.ours.signature_bytes;
        let messages = Polykem::messages(messages, count);
        let request = Request { key_mode: KEY_SHARED, messages: &messages, ..self.request(SIGN, self.secret, count) };
        self.ours.run(&Request { sig_out: sig.as_mut_ptr(), ..request }, "sign with a key set");
    }

    pub fn verify(&self, messages: &[u8], sig: &[u8]) -> bool {
        let count = sig.len() / self.ours.signature_bytes;
        let messages = Polykem::messages(messages, count);
        let request = Request { key_mode: KEY_SHARED, messages: &messages, ..self.request(VERIFY, self.public, count) };
        (unsafe { polykem_run(self.ours.context, &Request { sig: sig.as_ptr(), ..request }) }) == 0
    }
}

impl Drop for KeySets<'_> {
    fn drop(&mut self) {
        unsafe {
            polykem_keyset_free(self.public);
            polykem_keyset_free(self.secret);
        }
    }
}

impl Drop for Polykem {
    fn drop(&mut self) {
        unsafe { polykem_context_free(self.context) };
    }
}
