# SPDX-License-Identifier: Apache-2.0
"""Tests that the commands in docs/tls.md work as they stand there, except for the module's path."""

import pathlib
import re
import subprocess
import tempfile
import unittest

import clients
import openssl
from cases import require
from servers import HAProxy, Nginx, free_port

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/tls.md"
INSTALLED = "/usr/local/lib/ossl-modules/polykem.so"


def commands(name, port):
    """Returns a block of the page's commands, with a free port."""
    found = re.search(rf"<!-- run: {name} -->\n```sh\n(.*?)```", PAGE.read_text(), re.S).group(1)
    return found.replace(INSTALLED, str(pathlib.Path(openssl.MODULE).resolve())).replace(port, str(free_port()))


class Page(unittest.TestCase):
    def test_setups(self):
        require(HAProxy)
        require(Nginx)
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder).chmod(0o755)
            for name, port in (("haproxy", "8443"), ("nginx", "8444")):
                with self.subTest(name):
                    end = f"kill $(cat {name}.pid)"
                    self.assertIn(end, PAGE.read_text())
                    done = subprocess.run(["bash", "-e", "-c", f"trap '{end}' EXIT\n" + commands(name, port)],
                                          cwd=folder, capture_output=True, text=True, check=False,
                                          timeout=clients.PATIENCE, env=openssl.environment())
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertIn("Hello, quantum world", done.stdout)
            self.check_certificate(pathlib.Path(folder) / "certificate.pem")

    def check_certificate(self, path):
        """Checks that the certificate has the name in its extension and is no authority's, as some clients demand."""
        said = openssl.run("x509", "-in", path, "-noout", "-ext", "basicConstraints,subjectAltName").stdout
        self.assertIn("CA:FALSE", said)
        self.assertNotIn("CA:TRUE", said)
        self.assertIn("DNS:localhost", said)


if __name__ == "__main__":
    unittest.main()
