// SPDX-License-Identifier: Apache-2.0
//! The declarations of `polykem/polykem.h` that a key exchange needs; the header documents them. tests/header.rs
//! compares the two.
#![allow(non_camel_case_types)]

use std::os::raw::{c_char, c_int, c_uint, c_void};

pub type polykem_status = c_uint;
pub const POLYKEM_OK: polykem_status = 0;
pub const POLYKEM_ERR_ARGUMENT: polykem_status = 1;
pub const POLYKEM_ERR_UNKNOWN_SCHEME: polykem_status = 2;
pub const POLYKEM_ERR_ITEMS: polykem_status = 7;
pub const POLYKEM_ERR_PUBLIC_KEY: polykem_status = 8;
pub const POLYKEM_ERR_SIZE: polykem_status = 11;

pub type polykem_key_mode = c_uint;
pub const POLYKEM_KEY_PER_ITEM: polykem_key_mode = 0;

#[repr(C)]
pub struct polykem_scheme {
    _private: [u8; 0],
}

#[repr(C)]
pub struct polykem_context {
    _private: [u8; 0],
}

#[repr(C)]
pub struct polykem_config {
    _private: [u8; 0],
}

#[repr(C)]
pub struct polykem_scheme_info_t {
    pub struct_size: usize,
    pub name: *const c_char,
    pub family: *const c_char,
    pub title: *const c_char,
    pub security_category: u32,
    pub public_key_bytes: usize,
    pub secret_key_bytes: usize,
    pub ciphertext_bytes: usize,
    pub shared_secret_bytes: usize,
    pub keygen_coin_bytes: usize,
    pub encaps_coin_bytes: usize,
    pub secret_seed_bytes: usize,
    pub public_key_at: usize,
    pub research: c_int,
    pub signature_bytes: usize,
    pub sign_coin_bytes: usize,
    pub aliases: *const *const c_char,
    pub alias_count: usize,
}

extern "C" {
    pub fn polykem_status_text(status: polykem_status) -> *const c_char;
    pub fn polykem_scheme_find(name: *const c_char, out: *mut *const polykem_scheme) -> polykem_status;
    pub fn polykem_scheme_info(scheme: *const polykem_scheme, out: *mut polykem_scheme_info_t) -> polykem_status;
    pub fn polykem_context_new(config: *const polykem_config, out: *mut *mut polykem_context) -> polykem_status;
    pub fn polykem_context_free(context: *mut polykem_context);
    pub fn polykem_keygen(
        context: *mut polykem_context,
        scheme: *const polykem_scheme,
        count: usize,
        pk: *mut u8,
        sk: *mut u8,
    ) -> polykem_status;
    pub fn polykem_encaps(
        context: *mut polykem_context,
        scheme: *const polykem_scheme,
        count: usize,
        key_mode: polykem_key_mode,
        pk: *const u8,
        ct: *mut u8,
        ss: *mut u8,
        item_status: *mut polykem_status,
    ) -> polykem_status;
    pub fn polykem_decaps(
        context: *mut polykem_context,
        scheme: *const polykem_scheme,
        count: usize,
        key_mode: polykem_key_mode,
        sk: *const u8,
        ct: *const u8,
        ss: *mut u8,
        item_status: *mut polykem_status,
    ) -> polykem_status;
    pub fn polykem_zeroize(memory: *mut c_void, bytes: usize);
}
