# SPDX-License-Identifier: Apache-2.0
"""TLS clients of other projects. Each fetches https://localhost:PORT/ and returns a dictionary with `page`, and with
`group` as the client names it, "" if it cannot. Raises MissingClient if the client is not on this machine."""

import base64
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import openssl

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "support"))
from chromium import Browser  # noqa: E402
BUILD = pathlib.Path(os.environ.get("POLYKEM_TLS_BUILD", openssl.BUILD / "tls"))
PATIENCE = 200


class MissingClient(Exception):
    """A program that this machine lacks."""


def need(*programs):
    for program in programs:
        if found := shutil.which(program):
            return found
    raise MissingClient(f"no {' or '.join(programs)} here")


def run(command, patience=PATIENCE, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=patience, check=False,
                          **options)
    if done.returncode != 0:
        raise AssertionError(f"{command[0]} ended with {done.returncode}: {done.stderr[-2000:]}{done.stdout[-500:]}")
    return done.stdout


def url(port):
    return f"https://localhost:{port}/"


def curl(port, certificate, openssl_conf, group):
    """Fetches the page with Debian's curl, which knows the group from the provider."""
    page = run([need("curl"), "-sS", "--http1.1", "--curves", group, "--cacert", certificate, url(port)],
               env=openssl.environment(OPENSSL_CONF=openssl_conf))
    return {"page": page, "group": ""}


def s_client(port, certificate, openssl_conf, group):
    """Connects with s_client, without a page, as not every server speaks HTTP. OpenSSL 3.2 and newer name the group."""
    done = openssl.run("s_client", "-connect", f"127.0.0.1:{port}", "-CAfile", certificate, "-groups", group,
                       "-verify_return_error", "-tls1_3", OPENSSL_CONF=openssl_conf)
    if done.returncode != 0 or "Verify return code: 0" not in done.stdout:
        raise AssertionError(f"s_client ended with {done.returncode}: {done.stderr[-2000:]}")
    named = re.search(r"^Negotiated TLS1.3 group: (.*)", done.stdout, re.M)
    signed = re.search(r"^Peer signature type: (.*)", done.stdout, re.M)
    return {"page": "", "group": named.group(1) if named else "", "signature": signed.group(1) if signed else ""}


def go(port, certificate, compiler=None):
    program = BUILD / ("go-client" if compiler is None else "newer-go-client")
    try:
        run([compiler or need("go"), "build", "-o", program.resolve(), "."], cwd=HERE / "go", patience=300)
    except AssertionError as error:
        if re.search("requires go", str(error), re.I):  # what an older compiler says of go.mod
            raise MissingClient("no Go 1.24 here") from error
        raise
    return json.loads(run([program, port, certificate]))


def go127(port, certificate):
    """Fetches the page with Go 1.27, which verifies certificates of ML-DSA."""
    found = subprocess.run([HERE / "go127.sh"], capture_output=True, text=True, check=False)
    if found.returncode == 77:
        raise MissingClient(found.stderr.strip())
    return go(port, certificate, found.stdout.strip())


def rustls(port, certificate):
    target = BUILD / "rustls"
    run([need("cargo"), "build", "--quiet", "--release", "--locked", "--manifest-path", HERE / "rustls/Cargo.toml",
         "--target-dir", target], patience=1500)
    return json.loads(run([target / "release/polykem-rustls-client", port, certificate]))


def node(port, certificate):
    """Fetches the page with the Node.js of package.json, whichever is installed."""
    folder = BUILD / "node"
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(HERE / "node" / name, folder)
    if not (folder / "node_modules/node/bin/node").exists():
        run([need("npm"), "ci", "--no-audit", "--no-fund", "--prefix", folder], patience=300)
    return json.loads(run([folder / "node_modules/node/bin/node", HERE / "node/client.mjs", url(port), certificate]))


def public_key_hash(certificate):
    pem = openssl.run("x509", "-in", certificate, "-pubkey", "-noout").stdout
    der = base64.b64decode("".join(pem.splitlines()[1:-1]))
    return base64.b64encode(hashlib.sha256(der).digest()).decode()


def chromium(port, certificate):
    """Fetches the page with Chromium, without a window. It trusts the certificate by the hash of its key."""
    with tempfile.TemporaryDirectory(prefix="polykem-chromium-") as profile:
        trust = f"--ignore-certificate-errors-spki-list={public_key_hash(certificate)}"
        with TlsBrowser(need("chromium"), profile, trust) as browser:
            return browser.fetch(url(port))


class TlsBrowser(Browser):
    def fetch(self, address):
        session = self.new_tab()
        self.call("Network.enable", session)
        self.call("Page.enable", session)
        self.call("Page.navigate", session, url=address)
        details = self.event("Network.responseReceived")["response"]["securityDetails"]
        self.event("Page.loadEventFired")
        page = self.value(session, "document.body.innerText")
        return {"page": page, "group": details["keyExchangeGroup"], "protocol": details["protocol"]}
