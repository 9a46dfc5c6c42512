// SPDX-License-Identifier: Apache-2.0
//! Fetches a page with rustls as it comes, and says in JSON which group was negotiated: `client PORT CERTIFICATE`.
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, Stream};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(&arguments[2])?)?;
    let config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    let mut connection = ClientConnection::new(Arc::new(config), ServerName::try_from("localhost")?)?;
    let mut socket = TcpStream::connect(("127.0.0.1", arguments[1].parse()?))?;
    let mut page = Vec::new();
    let mut stream = Stream::new(&mut connection, &mut socket);
    stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
    stream.read_to_end(&mut page)?;
    let group = connection.negotiated_key_exchange_group().ok_or("no key exchange")?.name();
    let text = String::from_utf8_lossy(&page);
    let body = text.split("\r\n\r\n").nth(1).unwrap_or_default();
    println!("{{\"group\": \"{group:?}\", \"page\": \"{body}\"}}");
    Ok(())
}
