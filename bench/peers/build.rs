// SPDX-License-Identifier: Apache-2.0
//! Links the static library that CMake built in POLYKEM_BUILD, and adds the C++ files of this folder, wolfSSL, and Intel's library.
mod wolfssl_build;

use std::{env, path::Path};

fn main() {
    println!("cargo:rerun-if-env-changed=POLYKEM_BUILD");
    println!("cargo:rerun-if-changed=src");
    let sources = ["src/clock.cpp", "src/random.cpp"];
    cc::Build::new().cpp(true).std("c++20").include("../../src").files(sources).compile("polykem_peers_helpers");
    println!("cargo:rustc-link-arg=-Wl,--wrap=PQCRYPTO_RUST_randombytes");
    wolfssl_build::compile(Path::new("src"), false);
    let ippcp = env::var("POLYKEM_IPPCP").expect("set POLYKEM_IPPCP to the folder of libippcp.a, or use `make bench-peers`");
    println!("cargo:rerun-if-env-changed=POLYKEM_IPPCP");
    println!("cargo:rustc-link-search=native={ippcp}");
    println!("cargo:rustc-link-lib=static=ippcp");
    let build = env::var("POLYKEM_BUILD").expect("set POLYKEM_BUILD to polykem's build directory, or use `make bench-peers`");
    let library = Path::new(&build).join("src");
    println!("cargo:rustc-link-search=native={}", library.display());
    println!("cargo:rerun-if-changed={}", library.join("libpolykem.a").display());
    println!("cargo:rustc-link-lib=static=polykem");
    println!("cargo:rustc-link-lib=dylib=stdc++");
}
