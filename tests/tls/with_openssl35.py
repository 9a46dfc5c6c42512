# SPDX-License-Identifier: Apache-2.0
"""Runs test modules with OpenSSL 3.5 in servers and clients: `with_openssl35.py [--wheel] MODULE...`, with --wheel that
of openssl35_wheel.sh. Ends with 77 if that OpenSSL is not available."""

import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent

arguments = sys.argv[1:]
script = "openssl35.sh"
if arguments[0] == "--wheel":
    script = "openssl35_wheel.sh"
    arguments = arguments[1:]
found = subprocess.run([HERE / script], stdout=subprocess.PIPE, text=True, check=False)
if found.returncode != 0:
    sys.exit(found.returncode)
os.environ["POLYKEM_OPENSSL"] = found.stdout.strip()
os.execv(sys.executable, [sys.executable, "-B", HERE / "run.py", *arguments])
