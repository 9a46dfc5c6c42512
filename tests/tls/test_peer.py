# SPDX-License-Identifier: Apache-2.0
"""Tests handshakes between polykem's provider and another one that has the same groups, both ways, if
POLYKEM_PEER_PROVIDER names the other's module, that of oqs-provider for example."""

import unittest

import clients
import openssl
import tap
from servers import SServer

# Groups that both have under the same name and code point. eFrodoKEM is tried if the other has it.
GROUPS = {"frodo640aes": 65059, "frodo640shake": 65062, "frodo976aes": 65065, "frodo976shake": 65068,
          "frodo1344aes": 65071, "frodo1344shake": 65073,
          "p256_frodo640aes": 65060, "x25519_frodo640shake": 65064, "p384_frodo976aes": 65066,
          "x448_frodo976shake": 65070, "p521_frodo1344aes": 65072, "efrodo640aes": 65024, "efrodo976shake": 65033,
          "X25519MLKEM768": 0x11EC, "SecP384r1MLKEM1024": 0x11ED}


@unittest.skipUnless(openssl.PEER, "POLYKEM_PEER_PROVIDER names no other provider")
class Peer(unittest.TestCase):
    def meet(self, server_provider, client_provider):
        tried = 0
        for group, code_point in GROUPS.items():
            with self.subTest(group, server=server_provider):
                try:
                    with SServer(group, server_provider) as server, tap.Tap(server.port) as wire:
                        conf = openssl.configuration(server.folder / "client", client_provider)
                        clients.s_client(wire.port, server.certificate, conf, group)
                        self.assertEqual(wire.last().selected, tap.name(code_point))
                        tried += 1
                except AssertionError as error:
                    if not self.lacks(group):
                        raise
                    self.skipTest(f"the other provider has no {group}: {str(error)[:80]}")
        self.assertGreater(tried, 5)

    def lacks(self, group):
        """Returns whether the other provider lacks a group: it cannot connect to itself."""
        try:
            with SServer(group, "peer") as server:
                clients.s_client(server.port, server.certificate, server.openssl_conf, group)
                return False
        except AssertionError:
            return True

    def test_a_server_with_polykem(self):
        self.meet("polykem", "peer")

    def test_a_client_with_polykem(self):
        self.meet("peer", "polykem")


if __name__ == "__main__":
    unittest.main()
