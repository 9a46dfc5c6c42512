# SPDX-License-Identifier: Apache-2.0
"""Tests that faulty clients and servers are dropped for the right reason, without an effect on honest ones."""

import contextlib
import os
import socket
import threading
import time
import unittest

import protocol
from program import PATIENCE, SCHEME, ProgramTest
from protocol import CONFIRM, ERROR, Peer, frame

HONEST = 60


def start_decaps(peer):
    """Sends HELLO, and receives the public key that the server makes."""
    peer.send(protocol.hello(protocol.SERVER_DECAPS))
    return peer.expect(protocol.PUBLIC_KEY)


def say_garbage(peer):
    peer.send(b"GET / HTTP/1.1\r\nHost: example\r\n\r\n")
    return peer.drop_reason()


def say_one_wrong_byte(peer):
    peer.send(b"X")
    return peer.drop_reason()


def say_another_version(peer):
    peer.send(frame(protocol.HELLO, b"\x01" + protocol.SCHEME, version=2))
    return peer.drop_reason()


def say_random_bytes_late(peer):
    start_decaps(peer)
    peer.send(os.urandom(5000).replace(b"P", b"Q"))
    return peer.drop_reason()


def say_nothing(peer):
    return peer.drop_reason()


def say_half_a_header(peer):
    peer.send(protocol.hello(protocol.SERVER_DECAPS)[:7])
    return peer.drop_reason()


def say_half_a_ciphertext(peer):
    start_decaps(peer)
    peer.send(frame(protocol.CIPHERTEXT, bytes(protocol.CT_BYTES))[:100])
    return peer.drop_reason()


def stop_after_hello(peer):
    start_decaps(peer)
    return peer.drop_reason()


def disconnect_after_hello(peer):
    start_decaps(peer)
    peer.socket.close()
    return "disconnected"


def disconnect_at_once(peer):
    peer.socket.close()
    return "disconnected"


def reset_connection(peer):
    start_decaps(peer)
    peer.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
    peer.socket.close()
    return "disconnected"


def claim_four_gigabytes(peer):
    peer.send(frame(protocol.HELLO, b"", length=0xFFFFFFFF))
    return peer.drop_reason()


def claim_a_large_hello(peer):
    peer.send(frame(protocol.HELLO, b"", length=60000))
    return peer.drop_reason()


def send_short_ciphertext(peer):
    start_decaps(peer)
    peer.send(frame(protocol.CIPHERTEXT, bytes(protocol.CT_BYTES - 1)))
    return peer.drop_reason()


def send_short_public_key(peer):
    peer.send(protocol.hello(protocol.SERVER_ENCAPS) + frame(protocol.PUBLIC_KEY, bytes(10)))
    return peer.drop_reason()


def confirm_before_hello(peer):
    peer.send(frame(CONFIRM, bytes(32)))
    return peer.drop_reason()


def send_ahead_too_much(peer):
    start_decaps(peer)
    ciphertext = frame(protocol.CIPHERTEXT, bytes(protocol.CT_BYTES))
    peer.send(ciphertext + frame(CONFIRM, bytes(32)) * 50)
    return peer.drop_reason()


def name_another_scheme(peer):
    peer.send(protocol.hello(protocol.SERVER_DECAPS, b"ntruhrss701"))
    return peer.drop_reason()


def name_the_other_role(peer):
    peer.send(protocol.hello(protocol.SERVER_ENCAPS))
    return peer.drop_reason()


def send_wrong_tag(peer):
    start_decaps(peer)
    peer.send(frame(protocol.CIPHERTEXT, bytes(protocol.CT_BYTES)) + frame(CONFIRM, os.urandom(32)))
    return peer.drop_reason()


def send_wrong_tag_to_encaps(peer):
    key = bytes(protocol.PK_BYTES)
    peer.send(protocol.hello(protocol.SERVER_ENCAPS) + frame(protocol.PUBLIC_KEY, key))
    peer.expect(protocol.CIPHERTEXT)
    peer.send(frame(CONFIRM, os.urandom(32)))
    return peer.drop_reason()


def report_an_error(peer):
    start_decaps(peer)
    peer.send(frame(ERROR, b"\x0cthese secrets differ"))
    if peer.socket.recv(1) != b"":
        raise AssertionError("an answer to an ERROR frame")
    return "peer_error"


FAULTS = {
    "server-decaps": [
        (say_garbage, "garbage"),
        (say_one_wrong_byte, "garbage"),
        (say_another_version, "garbage"),
        (say_random_bytes_late, "garbage"),
        (say_nothing, "silent"),
        (say_half_a_header, "half_frame"),
        (say_half_a_ciphertext, "half_frame"),
        (stop_after_hello, "timeout"),
        (disconnect_after_hello, "disconnected"),
        (disconnect_at_once, "disconnected"),
        (reset_connection, "disconnected"),
        (claim_four_gigabytes, "oversized"),
        (claim_a_large_hello, "wrong_size"),
        (send_short_ciphertext, "wrong_size"),
        (confirm_before_hello, "unexpected_frame"),
        (send_ahead_too_much, "unexpected_frame"),
        (name_another_scheme, "wrong_scheme"),
        (name_the_other_role, "wrong_role"),
        (send_wrong_tag, "mismatch"),
        (report_an_error, "peer_error"),
    ],
    "server-encaps": [
        (say_garbage, "garbage"),
        (say_nothing, "silent"),
        (say_half_a_header, "half_frame"),
        (claim_four_gigabytes, "oversized"),
        (send_short_public_key, "wrong_size"),
        (disconnect_at_once, "disconnected"),
        (send_wrong_tag_to_encaps, "mismatch"),
    ],
}


class FaultyClients(ProgramTest):
    def timeout(self, least):
        """Returns how many seconds a server should wait for a frame: few, so that tests see silent clients dropped, but
        more than all honest clients together need on this machine now."""
        server = self.server()
        begin = time.monotonic()
        self.run_json("swarm", "--scheme", SCHEME, "--port", server.port, "--clients", HONEST)
        return max(least, 5 * (time.monotonic() - begin))

    def run_faults(self, role):
        """Runs all faults at once, with honest clients beside them; checks every reason and count."""
        server = self.server("--role", role, timeout=self.timeout(least=1))
        seen = {}

        def act(fault):
            with Peer.connect(server.port) as peer, contextlib.suppress(OSError, EOFError):
                seen[fault.__name__] = fault(peer)

        threads = [threading.Thread(target=act, args=(fault,)) for fault, _ in FAULTS[role]]
        for thread in threads:
            thread.start()
        honest = self.run_json("swarm", "--scheme", SCHEME, "--role", role, "--port", server.port, "--clients", HONEST)
        for thread in threads:
            thread.join()
        report = server.stop()

        self.assertEqual(honest["agreed"], HONEST)
        self.assertEqual(report["agreed"], HONEST)
        self.assertEqual(seen, {fault.__name__: reason for fault, reason in FAULTS[role]})
        expected = {}
        for _, reason in FAULTS[role]:
            expected[reason] = expected.get(reason, 0) + 1
        self.assertEqual(report["failed_reasons"], expected)
        self.assertEqual(report["failed"], len(FAULTS[role]))
        self.assertEqual(server.exit_code, 1, "a mismatch makes the server fail")
        return server, report

    def test_beside_honest_clients_of_a_decapsulating_server(self):
        server, report = self.run_faults("server-decaps")
        self.assertEqual(report["peer_errors"], {"mismatch: these secrets differ": 1})
        self.assertIn("half_frame", server.output)

    def test_beside_honest_clients_of_an_encapsulating_server(self):
        self.run_faults("server-encaps")

    def test_faults_other_than_a_mismatch_leave_the_exit_code_alone(self):
        server = self.server()
        for fault in (say_garbage, disconnect_after_hello, send_short_ciphertext):
            with Peer.connect(server.port) as peer:
                fault(peer)
        report = server.stop()
        self.assertEqual(report["failed"], 3)
        self.assertEqual(server.exit_code, 0)

    def test_silent_clients_do_not_hold_a_full_server(self):
        server = self.server("--max-clients", 4, timeout=self.timeout(least=0.5))
        with contextlib.ExitStack() as stack:
            for _ in range(8):
                stack.enter_context(Peer.connect(server.port))
            honest = self.run_json("swarm", "--scheme", SCHEME, "--port", server.port, "--clients", 8)
        report = server.stop()
        self.assertEqual(honest["agreed"], 8)
        self.assertEqual(report["failed_reasons"], {"silent": 8})


class FaultyServers(ProgramTest):
    """Tests a client against a faulty server in Python."""

    def swarm_against(self, behave, role="server-decaps", timeout=PATIENCE):
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)
        got = {}

        def serve():
            connected, _ = listener.accept()
            with Peer(connected) as peer, contextlib.suppress(OSError, EOFError):
                got["reason"] = behave(peer)

        thread = threading.Thread(target=serve)
        thread.start()
        report = self.run_json(
            "swarm", "--scheme", SCHEME, "--role", role, "--port", listener.getsockname()[1], "--clients", 1,
            "--timeout", timeout, exit_code=1,
        )  # fmt: skip
        thread.join()
        self.assertEqual(report["agreed"], 0)
        return report["failed_reasons"], got.get("reason")

    def test_garbage(self):
        def behave(peer):
            peer.expect(protocol.HELLO)
            peer.send(b"SSH-2.0-nothing\r\n")
            return peer.drop_reason()

        self.assertEqual(self.swarm_against(behave), ({"garbage": 1}, "garbage"))

    def test_wrong_tag(self):
        def behave(peer):
            peer.expect(protocol.HELLO)
            peer.send(frame(protocol.PUBLIC_KEY, bytes(protocol.PK_BYTES)))
            peer.expect(protocol.CIPHERTEXT)
            peer.expect(CONFIRM)
            peer.send(frame(CONFIRM, bytes(32)))
            return peer.drop_reason()

        self.assertEqual(self.swarm_against(behave), ({"mismatch": 1}, "mismatch"))

    def test_wrong_tag_after_client_keygen(self):
        def behave(peer):
            peer.expect(protocol.HELLO)
            peer.expect(protocol.PUBLIC_KEY)
            peer.send(frame(protocol.CIPHERTEXT, bytes(protocol.CT_BYTES)))
            peer.expect(CONFIRM)
            peer.send(frame(CONFIRM, bytes(32)))
            return peer.drop_reason()

        self.assertEqual(self.swarm_against(behave, role="server-encaps"), ({"mismatch": 1}, "mismatch"))

    def test_silence(self):
        def behave(peer):
            peer.expect(protocol.HELLO)
            return peer.drop_reason()

        self.assertEqual(self.swarm_against(behave, timeout=1), ({"timeout": 1}, "timeout"))

    def test_hangs_up(self):
        def behave(peer):
            peer.expect(protocol.HELLO)
            peer.socket.close()
            return "closed"

        self.assertEqual(self.swarm_against(behave), ({"disconnected": 1}, "closed"))


if __name__ == "__main__":
    unittest.main()
