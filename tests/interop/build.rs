// SPDX-License-Identifier: Apache-2.0
//! Links the static library that CMake built in POLYKEM_BUILD, and wolfSSL.
#[path = "../../bench/peers/wolfssl_build.rs"]
mod wolfssl_build;

use std::{env, path::Path};

fn main() {
    println!("cargo:rerun-if-env-changed=POLYKEM_BUILD");
    println!("cargo:rerun-if-changed=../../bench/peers");
    wolfssl_build::compile(Path::new("../../bench/peers/src"), true);
    let build = env::var("POLYKEM_BUILD").expect("set POLYKEM_BUILD to polykem's build directory");
    let library = Path::new(&build).join("src");
    println!("cargo:rustc-link-search=native={}", library.display());
    println!("cargo:rerun-if-changed={}", library.join("libpolykem.a").display());
    println!("cargo:rustc-link-lib=static=polykem");
    println!("cargo:rustc-link-lib=dylib=stdc++");
}
