# SPDX-License-Identifier: Apache-2.0
"""Helpers of all tests in this folder."""

import json
import os
import subprocess
import unittest

import openssl

# How many seconds a handshake, or a program beyond its own time, may take on a busy machine.
HANDSHAKE_PATIENCE, PATIENCE = 60, 300
LOAD = os.environ.get("POLYKEM_TLS_LOAD", openssl.BUILD / "bin/polykem_tls_load")


def require(server):
    """Skips a test whose server is not on this machine."""
    if server.path() is None:
        raise unittest.SkipTest(f"{server.program} is not installed")


def load(server, group, connections=32, seconds=1.0, expect_failures=False, conf=None,
         openssl_prefix=None, **options):
    """Runs the load generator against a server and returns its report. conf: of its OpenSSL, by default with the
    server's provider; openssl_prefix: where that is. An option whose value is True is a flag."""
    command = [LOAD, server.port, "--group", group, "--connections", connections, "--seconds", seconds]
    for name, value in {"patience": HANDSHAKE_PATIENCE, **options}.items():
        command += ["--" + name.replace("_", "-")] + ([value] if value is not True else [])
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False,
                          timeout=PATIENCE + 2 * seconds,
                          env=openssl.environment(openssl_prefix, OPENSSL_CONF=conf or server.client_conf))
    if done.returncode not in ((0, 1) if expect_failures else (0,)):
        raise AssertionError(f"the load ended with {done.returncode}: {done.stderr}{done.stdout}; "
                             f"the server said: {server.log()[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])
