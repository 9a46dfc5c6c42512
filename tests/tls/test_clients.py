# SPDX-License-Identifier: Apache-2.0
"""Tests clients of other projects, which fetch a page from HAProxy with polykem's provider in asynchronous mode. The
group is read on both sides: from the ServerHello, and from the client if it can tell."""

import unittest

import clients
import tap
from cases import require
from servers import PAGE, HAProxy

HYBRID = "X25519MLKEM768"


class Base(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        require(HAProxy)
        cls.server = cls.enterClassContext(HAProxy(f"{HYBRID}:X25519", asynchronous=True))
        cls.wire = cls.enterClassContext(tap.Tap(cls.server.port))

    def fetch(self, client, *, names_group=True, by_default=True):
        options = () if by_default else (self.server.client_conf, HYBRID)
        try:
            answer = client(self.wire.port, self.server.certificate, *options)
        except clients.MissingClient as missing:
            self.skipTest(str(missing))
        seen = self.wire.last()
        self.assertEqual(seen.selected, HYBRID)
        self.assertIn(HYBRID, seen.shares)
        self.assertFalse(seen.retried)
        self.assertEqual(answer["page"], PAGE)
        self.assertEqual(answer["group"], HYBRID if names_group else "")


class Quick(Base):
    def test_curl(self):
        self.fetch(clients.curl, names_group=False, by_default=False)


class Others(Base):
    """Tests clients that take long to fetch or to build: Go, which compiles its TLS library, takes 40 CPU seconds."""

    def test_go(self):
        self.fetch(clients.go)

    def test_rustls(self):
        self.fetch(clients.rustls)

    def test_node(self):
        self.fetch(clients.node)

    def test_chromium(self):
        self.fetch(clients.chromium)


if __name__ == "__main__":
    unittest.main()
