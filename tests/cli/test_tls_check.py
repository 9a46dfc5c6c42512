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
        self.finds_wrong(self.config(), "does not activate it")
        empty = self.dir / "empty.cnf"
        empty.write_text("openssl_conf = init\n[init]\n")
        self.finds_wrong(empty, "does not mention polykem")
        config = self.config("activate = 1", default="activate = 0")
        done = self.run_program("tls-check", "--config", config, "--groups", "MLKEM768")
        self.assertEqual(done.returncode, CHECK_FAILED)
        self.assertIn("but not 'default'", done.stdout.decode())

    def finds_wrong(self, config, what):
        done = self.run_program("tls-check", "--config", config, "--groups", "MLKEM768")
        self.assertEqual(done.returncode, CHECK_FAILED)
        self.assertIn(what, done.stdout.decode())
        self.assertNotIn("All is well", done.stdout.decode())

    def test_another_name_for_the_module(self):
        module = next(f["path"] for f in self.json("tls-check", "--groups", "MLKEM768")["folders"] if f["found"])
        config = self.config("activate = 1", f"module = {module}/polykem.so")
        config.write_text(config.read_text().replace("polykem = own", "pk = own"))
        self.assertIn("activates polykem\n", self.ok("tls-check", "--config", config, "--groups", "MLKEM768"))

    def test_tries_the_broker_and_the_folder_of_statistics(self):
        config = self.config("activate = 1", f"broker = {self.dir}/socket", f"statistics = {self.dir}/of")
        said = self.ok("tls-check", "--config", config, "--groups", "MLKEM768")
        self.assertIn(f"{self.dir}/socket: warning: ", said)
        self.assertIn("of.PID: can be written", said)
        self.finds_wrong(self.config("activate = 1", f"statistics = {self.dir}/no/of"), "cannot be written")

    def test_says_what_a_linger_costs(self):
        config = self.config("activate = 1", "linger_us = 2500")
        self.assertIn("waits 2.5 ms", self.ok("tls-check", "--config", config, "--groups", "MLKEM768"))

    def test_says_why_the_provider_does_not_load(self):
        config = self.config("activate = 1", "thread = 2")
        done = self.run_program("tls-check", "--config", config)
        self.assertEqual(done.returncode, CHECK_FAILED)
        self.assertIn(f"{config}: thread: no such key; there are backend, threads", done.stdout.decode())
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
