# SPDX-License-Identifier: Apache-2.0
"""Runs test modules with OpenSSL 3.5 under servers and clients: `with_openssl35.py MODULE...`. Ends with 77 where that
OpenSSL cannot be had."""

import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent

found = subprocess.run([HERE / "openssl35.sh"], stdout=subprocess.PIPE, text=True, check=False)
if found.returncode != 0:
    sys.exit(found.returncode)
os.environ["POLYKEM_OPENSSL"] = found.stdout.strip()
os.execv(sys.executable, [sys.executable, "-B", HERE / "run.py", *sys.argv[1:]])
