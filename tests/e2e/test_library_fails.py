# SPDX-License-Identifier: Apache-2.0
"""Tests that if the library cannot run a batch, the batch's clients are told and the server continues."""

import os
import pathlib
import tempfile
import unittest

import protocol
from program import SCHEME, ProgramTest
from protocol import Peer


class LibraryFails(ProgramTest):
    def test_entropy_fails_for_a_while(self):
        with tempfile.TemporaryDirectory() as folder:
            no_entropy = pathlib.Path(folder) / "no entropy"
            environment = {"LD_PRELOAD": os.environ["POLYKEM_NO_ENTROPY"], "NO_ENTROPY_WHILE": str(no_entropy)}
            server = self.server(env=os.environ | environment)
            no_entropy.touch()
            for _ in range(3):
                with Peer.connect(server.port) as peer:
                    peer.send(protocol.hello(protocol.SERVER_DECAPS))
                    self.assertEqual(peer.drop_reason(), "internal")
            no_entropy.unlink()
            swarm = self.run_json("swarm", "--scheme", SCHEME, "--port", server.port, "--clients", 5)
            self.assertEqual(swarm["agreed"], 5)
            report = server.stop()
        self.assertEqual((report["agreed"], report["failed_reasons"]), (5, {"internal": 3}))

    def test_memory_fails_for_a_while(self):
        with tempfile.TemporaryDirectory() as folder:
            no_memory = pathlib.Path(folder) / "no memory"
            environment = {"LD_PRELOAD": os.environ["POLYKEM_NO_MEMORY"], "NO_MEMORY_WHILE": str(no_memory)}
            server = self.server(env=os.environ | environment)
            # The loop runs when a handshake has agreed; before that, a lack of memory ends the program.
            first = self.run_json("swarm", "--scheme", SCHEME, "--port", server.port, "--clients", 1)
            self.assertEqual(first["agreed"], 1)
            no_memory.touch()
            dropped = 0
            for _ in range(300):
                with Peer.connect(server.port) as peer:
                    peer.send(protocol.hello(protocol.SERVER_DECAPS))
                    try:
                        dropped += peer.receive_frame()[0] == protocol.ERROR
                    except (OSError, EOFError):  # closed without a word
                        dropped += 1
            no_memory.unlink()
            self.assertGreater(dropped, 0)
            swarm = self.run_json("swarm", "--scheme", SCHEME, "--port", server.port, "--clients", 50)
            self.assertEqual(swarm["agreed"], 50)
            self.assertEqual(server.stop()["agreed"], 51)


if __name__ == "__main__":
    unittest.main()
