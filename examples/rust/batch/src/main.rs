// SPDX-License-Identifier: Apache-2.0
//! Key exchange with eight clients at once, in Rust: both sides in one program, as in ../../batch.c.
//!
//!     cargo run       with PKG_CONFIG_PATH and LD_LIBRARY_PATH if polykem is not installed below /usr
use batch::{Context, Scheme};
use std::error::Error;

const CLIENTS: usize = 8;

fn main() -> Result<(), Box<dyn Error>> {
    let scheme = Scheme::find("ML-KEM-768")?;
    let context = Context::new()?;
    let (pk, sk) = context.keygen(scheme, CLIENTS)?; // the clients
    let (ct, sent) = context.encaps(scheme, &pk)?.all()?; // the server, to all of them
    let received = context.decaps(scheme, &sk, &ct)?.all()?; // the clients
    if *sent != *received {
        return Err("the secrets differ".into());
    }
    println!("ML-KEM-768: {CLIENTS} shared secrets are equal");
    Ok(())
}
