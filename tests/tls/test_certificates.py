# SPDX-License-Identifier: Apache-2.0
"""Tests servers whose certificate is of ML-DSA, with polykem's provider, and clients that verify it with OpenSSL's own
ML-DSA, with Go's and, with rustls, with AWS-LC's. For OpenSSL 3.5, whose servers take such certificates."""

import itertools
import unittest

import clients
import openssl
from cases import load, require
from servers import PAGE, HAProxy, Nginx

HYBRID = "X25519MLKEM768"


class Mldsa(unittest.TestCase):
    def setUp(self):
        if openssl.version() < (3, 5):
            self.skipTest("this OpenSSL's servers take no certificates of ML-DSA")

    def serve(self, kind, signature, asynchronous):
        require(kind)
        with kind(HYBRID, asynchronous=asynchronous, signature=signature) as server:
            own = openssl.configuration(server.folder / "client", "none")
            answer = clients.s_client(server.port, server.certificate, own, HYBRID)
            self.assertEqual(answer["signature"], signature.lower().replace("-", ""))
            self.assertEqual(clients.curl(server.port, server.certificate, own, HYBRID)["page"], PAGE)
            self.assertGreater(load(server, HYBRID, connections=8, seconds=1.5, conf=own)["handshakes"], 8)
            self.assertGreater(server.counters("sign")["operations"], 10, "polykem signed")
            self.assertEqual(server.counters("sign")["failed"], 0)

    def test_haproxy(self):
        for signature, asynchronous in itertools.product(("ML-DSA-44", "ML-DSA-65", "ML-DSA-87"), (False, True)):
            with self.subTest(signature, asynchronous=asynchronous):
                self.serve(HAProxy, signature, asynchronous)

    def test_nginx(self):
        self.serve(Nginx, "ML-DSA-65", False)

    def test_device(self):
        """A device signs for handshakes that pause, several in a batch."""
        device = {"variables": openssl.simulated_device(), "backend": "cuda", "deadline_us": 500000}
        with HAProxy(HYBRID, asynchronous=True, signature="ML-DSA-65", **device) as server:
            own = openssl.configuration(server.folder / "client", "none")
            load(server, HYBRID, connections=32, seconds=2, conf=own)
            server.finish()
            signed = server.counters("sign")
            self.assertGreater(signed["on_accelerator"], 2 * signed["batches"])
            self.assertEqual(signed["failed"], 0)

    def verify(self, client):
        for signature in ("ML-DSA-44", "ML-DSA-65", "ML-DSA-87"):
            with self.subTest(signature), HAProxy(HYBRID, asynchronous=True, signature=signature) as server:
                try:
                    answer = client(server.port, server.certificate)
                except clients.MissingClient as missing:
                    self.skipTest(str(missing))
                self.assertEqual(answer["page"], PAGE)
                self.assertEqual(answer["group"], HYBRID)
                server.finish()
                self.assertEqual(server.counters("sign")["operations"], 1, "polykem signed")

    def test_go(self):
        self.verify(clients.go127)

    def test_rustls(self):
        self.verify(clients.rustls)

    def test_client(self):
        """polykem verifies what OpenSSL's own ML-DSA signed."""
        with HAProxy(HYBRID, "none", signature="ML-DSA-65") as server:
            conf = openssl.configuration(server.folder / "client", "polykem")
            self.assertEqual(clients.s_client(server.port, server.certificate, conf, HYBRID)["signature"], "mldsa65")
            self.assertEqual(clients.curl(server.port, server.certificate, conf, HYBRID)["page"], PAGE)


if __name__ == "__main__":
    unittest.main()
