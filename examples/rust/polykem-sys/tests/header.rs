// SPDX-License-Identifier: Apache-2.0
//! Compares src/lib.rs with the header, as a C compiler reads it.
use polykem_sys::*;
use std::mem::{size_of, MaybeUninit};
use std::path::Path;
use std::process::Command;
use std::ptr::addr_of;

/// The values of C expressions in a program that includes the header.
fn of_header(name: &str, expressions: &[&str]) -> Vec<usize> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (source, program) = (folder.join(format!("{name}.c")), folder.join(name));
    let prints: String = expressions.iter().map(|e| format!("printf(\"%zu\\n\", (size_t)({e}));\n")).collect();
    let text = format!("#include <polykem/polykem.h>\n#include <stdio.h>\nint main(void) {{\n{prints}}}\n");
    std::fs::write(&source, text).unwrap();
    let flags = Command::new("pkg-config").args(["--cflags", "polykem"]).output().unwrap();
    let flags = String::from_utf8(flags.stdout).unwrap();
    let compiled = Command::new("cc").args(flags.split_whitespace()).arg(&source).arg("-o").arg(&program).status();
    assert!(compiled.unwrap().success());
    let output = Command::new(&program).output().unwrap();
    String::from_utf8(output.stdout).unwrap().lines().map(|line| line.parse().unwrap()).collect()
}

macro_rules! offsets {
    ($($field:ident),*) => {{
        let info = MaybeUninit::<polykem_scheme_info_t>::uninit();
        let start = info.as_ptr();
        let names = [$(concat!("offsetof(polykem_scheme_info_t, ", stringify!($field), ")")),*];
        // SAFETY: no field is read.
        let here = [$(unsafe { addr_of!((*start).$field) as usize - start as usize }),*];
        assert_eq!(of_header("fields", &names), here);
    }};
}

#[test]
fn fields_lie_where_c_has_them() {
    assert_eq!(of_header("size", &["sizeof(polykem_scheme_info_t)"]), [size_of::<polykem_scheme_info_t>()]);
    offsets!(
        struct_size,
        name,
        family,
        title,
        security_category,
        public_key_bytes,
        secret_key_bytes,
        ciphertext_bytes,
        shared_secret_bytes,
        keygen_coin_bytes,
        encaps_coin_bytes,
        secret_seed_bytes,
        public_key_at,
        research,
        signature_bytes,
        sign_coin_bytes,
        aliases,
        alias_count
    );
}

#[test]
fn constants_are_those_of_the_header() {
    let names = [
        "POLYKEM_OK",
        "POLYKEM_ERR_ARGUMENT",
        "POLYKEM_ERR_UNKNOWN_SCHEME",
        "POLYKEM_ERR_ITEMS",
        "POLYKEM_ERR_PUBLIC_KEY",
        "POLYKEM_ERR_SIZE",
        "POLYKEM_KEY_PER_ITEM",
        "sizeof(polykem_status)",
        "sizeof(polykem_key_mode)",
    ];
    let here = [
        POLYKEM_OK as usize,
        POLYKEM_ERR_ARGUMENT as usize,
        POLYKEM_ERR_UNKNOWN_SCHEME as usize,
        POLYKEM_ERR_ITEMS as usize,
        POLYKEM_ERR_PUBLIC_KEY as usize,
        POLYKEM_ERR_SIZE as usize,
        POLYKEM_KEY_PER_ITEM as usize,
        size_of::<polykem_status>(),
        size_of::<polykem_key_mode>(),
    ];
    assert_eq!(of_header("constants", &names), here);
}
