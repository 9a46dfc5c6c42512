# SPDX-License-Identifier: Apache-2.0
"""The OpenSSL provider as `polykem tls-check` sees it."""

import unittest

from program import CHECK_FAILED, IO, USAGE, Case


class TlsCheck(Case):
    def config(self, *lines, default="activate = 1"):
        path = self.dir / "openssl.cnf"
        path.write_text("\n".join(["openssl_conf = init", "[init]", "providers = list", "[list]", "default = usual",
                                   "polykem = own", "[usual]", default, "[own]", *lines, ""]))
        return path

    def test_every_group_shakes_hands(self):
        result = self.json("tls-check")
        self.assertEqual(result["schema"], "polykem-tls-check-1")
        self.assertTrue(result["ok"] and result["loaded"])
        points = {g["name"]: g["code_point"] for g in result["groups"]}
        self.assertEqual(points["X25519MLKEM768"], 0x11EC)
        self.assertEqual(points["frodo976aes"], 65065)
        self.assertEqual(len(set(points.values())), len(points))
        self.assertTrue(all(g["ok"] for g in result["groups"]))

    def test_tells_what_the_configuration_says(self):
        config = self.config("activate = 1", "groups.frodo976aes = 0xFE80")
        result = self.json("tls-check", "--config", config, "--groups", "frodo976aes")
        self.assertTrue(result["configured"] and result["activated"])
        self.assertEqual([g["code_point"] for g in result["groups"]], [0xFE80])
        said = self.ok("tls-check", "--config", config, "--groups", "MLKEM768")
        self.assertIn("activates polykem\n", said)
        self.assertIn("All is well.", said)

    def test_tells_what_the_configuration_lacks(self):
        said = self.ok("tls-check", "--config", self.config(), "--groups", "MLKEM768")
        self.assertIn("does not activate it", said)
        self.assertNotIn("All is well", said)
        config = self.config("activate = 1", default="activate = 0")
        done = self.run_program("tls-check", "--config", config, "--groups", "MLKEM768")
        self.assertEqual(done.returncode, CHECK_FAILED)
        self.assertIn("but not 'default'", done.stdout.decode())

    def test_says_why_the_provider_does_not_load(self):
        config = self.config("activate = 1", "thread = 2")
        done = self.run_program("tls-check", "--config", config)
        self.assertEqual(done.returncode, CHECK_FAILED)
        self.assertIn("thread: no such key; there are backend, threads", done.stdout.decode())
        done = self.run_program("tls-check", "--modules", self.dir / "nothing")
        self.assertEqual(done.returncode, CHECK_FAILED)
        self.assertIn("nothing (--modules): not there", done.stdout.decode())
        self.assertIn("does not load", done.stdout.decode())

    def test_refuses(self):
        self.fails(USAGE, ["no group 'MLKEM786'", "did you mean 'MLKEM768'"], "tls-check", "--groups", "MLKEM786")
        self.fails(USAGE, ["names no group"], "tls-check", "--groups", ",")
        self.fails(IO, ["cannot read", "No such file"], "tls-check", "--config", self.dir / "nothing")


if __name__ == "__main__":
    unittest.main()
