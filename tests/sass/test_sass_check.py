# SPDX-License-Identifier: Apache-2.0
"""Tests that tools/sass_check.py finds planted leaks, and nothing else: in machine code as text, and as compiled."""

import os
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import sass_check  # noqa: E402

LOAD = ["LDC.64 R2, c[0x0][0x210]", "LDG.E R4, desc[UR4][R2.64]"]


def findings(*instructions, name="kernel", public=frozenset()):
    lines = [f"        /*{16 * n:04x}*/    {text} ;" for n, text in enumerate(instructions)]
    kernels = sass_check.parse("\n".join([f"\t\tFunction : {name}", *lines]))
    (_, arch), code = next(iter(kernels.items()))
    return sass_check.Kernel(name, arch, code, public).run()


class Text(unittest.TestCase):
    def found(self, what, *instructions):
        found = findings(*LOAD, *instructions, "EXIT")
        self.assertTrue(any(what in text for text in found.values()), f"{instructions}: {found}")

    def clean(self, *instructions):
        self.assertEqual(findings(*LOAD, *instructions, "EXIT"), {}, instructions)

    def test_branches(self):
        test = "ISETP.NE.AND P0, PT, R4, RZ, PT"
        self.found("decides whether this runs", test, "@P0 BRA 0x0")
        self.found("decides whether this runs", test, "@!P0 EXIT")
        self.found("decides whether this runs", test, "PLOP3.LUT P1, PT, P0, PT, PT, 0x8, 0x0", "@P1 BRA 0x0")
        self.found("decides whether memory", test, "@P0 STG.E desc[UR4][R2.64], RZ")
        self.found("control flow depends", "R2UR UR6, R4", "UISETP.NE.AND UP0, UPT, UR6, URZ, UPT", "BRA.U UP0, 0x0")
        self.found("decides whether", "VOTE.ANY R5, PT, PT", test, "VOTE.ANY P1, P0", "@P1 BRA 0x0")

    def test_addresses(self):
        self.found("an address", "IMAD.WIDE.U32 R6, R4, 0x4, R2", "LDG.E R8, desc[UR4][R6.64]")
        self.found("an address", "IMAD.WIDE.U32 R6, P1, R4, 0x4, R2", "STG.E desc[UR4][R6.64], RZ")
        self.found("an address", "IADD3 R6, P0, R4, R2, RZ", "IADD3.X R7, RZ, R3, RZ, P0, !PT", "LDS R8, [R7]")
        self.found("an address", "ISETP.NE.AND P0, PT, R4, RZ, PT", "SEL R6, R2, RZ, P0", "LDS R8, [R6]")
        self.found("an address", "SHFL.BFLY PT, R6, R4, 0x1, 0x1f", "LDS R8, [R6+UR4+0x10]")
        self.found("an address", "FADD.SAT R6, R4, -R2", "FFMA R6, R6, 1, R2", "LDS R8, [R6]")
        self.found("address of a constant", "LDC R6, c[0x3][R4]")
        self.found("source lane", "SHFL.IDX PT, R6, R2, R4, 0x1f")
        for unknown in ("TEX R4, R5", "F2I.U64.TRUNC R8, R4", "I2F.F64 R8, R4", "I2F.U64.RP R8, R6"):
            self.found("does not know", unknown)
        self.clean("F2I.TRUNC.NTZ R8, R4", "LOP3.LUT RZ, R8, 0x8, RZ, 0xc0, !PT")

    def test_what_is_no_leak(self):
        self.clean("LOP3.LUT R6, R4, 0xff, RZ, 0xc0, !PT", "STG.E desc[UR4][R2.64], R6")
        self.clean("ISETP.NE.AND P0, PT, R4, RZ, PT", "@P0 IMAD.MOV.U32 R6, RZ, RZ, R4", "STG.E desc[UR4][R2.64], R6")
        self.clean("IMAD.MOV.U32 R4, RZ, RZ, 0x8", "LDS R8, [R4]")  # the secret was overwritten
        # Under one guard the register holds what was written under it.
        guard = "ISETP.NE.AND P1, PT, R2, RZ, PT"
        self.clean(guard, "@!P1 MOV R4, 0x400", "@!P1 STS [R4], RZ")
        self.found("an address", guard, "@!P1 MOV R4, 0x400", "@P1 STS [R4], RZ")
        self.found("an address", guard, "@!P1 MOV R4, 0x400", "ISETP.NE.AND P1, PT, R3, RZ, PT", "@!P1 STS [R4], RZ")

    def test_predicates_packed_in_a_register(self):
        test = "ISETP.NE.AND P3, PT, R4, RZ, PT"
        self.found("an address", test, "P2R R6, PR, RZ, 0x8", "LDS R8, [R6]")
        self.clean(test, "P2R R6, PR, RZ, 0x4", "LDS R8, [R6]")  # P2
        self.found("decides whether this runs", "R2P PR, R4, 0x1e", "@P4 EXIT")
        self.clean("R2P PR, R4, 0x1e", "@P5 EXIT")

    def test_guards_kept_in_a_register(self):
        """A guard that comes back from a bit of a register is the one under which an address was written."""
        test, other = "ISETP.NE.AND P3, PT, R2, RZ, PT", "ISETP.NE.AND P3, PT, R3, RZ, PT"
        write, use = "@!P3 MOV R4, 0x400", "@!P3 STS [R4], RZ"
        packed, back = "P2R R9, PR, RZ, 0x8", "ISETP.NE.AND P3, PT, R9, RZ, PT"
        bit = ("LOP3.LUT R8, R8, 0xfffffff7, RZ, 0xc0, !PT", "@P3 LOP3.LUT R8, R8, 0x8, RZ, 0xfc, !PT")
        bit_back = "LOP3.LUT P3, RZ, R8, 0x8, RZ, 0xc0, !PT"
        self.clean(test, packed, write, other, back, use)
        self.clean(test, *bit, write, other, bit_back, use)
        self.clean(test, *bit, write, other, bit_back, packed, other, back, use)
        for code in ((packed, write, back.replace("NE", "EQ"), use), (packed, write, back, use.replace("!", "")),
                     (packed, write, other, packed, back, use), ("P2R R9, PR, RZ, 0xa", write, other, back, use),
                     ("P2R R9, PR, R8, 0x8", write, other, back, use), (packed, "MOV R9, R3", write, back, use),
                     (packed, write, "@P1 P2R R9, PR, RZ, 0x8", other, back, use),
                     (bit[1], write, other, bit_back, use), (*bit, bit[1].replace("@P3", "@P1"), write, bit_back, use),
                     (*bit, write, other, bit_back.replace("0x8", "0xc"), use),
                     (bit[0], bit[1].replace("@", "@!"), write, other, bit_back, use)):
            self.found("an address", test, *code)
        # The bit is as secret as the guard, whatever else the register holds.
        self.clean("MOV R8, R4", test, *bit, other, bit_back, "@P3 EXIT")
        self.found("decides whether this runs", test.replace("R2", "R4"), *bit, other, bit_back, "@P3 EXIT")
        self.found("decides whether this runs", "MOV R8, R4", test, bit[1], other, bit_back, "@P3 EXIT")
        # Where paths meet, the guard may be another one.
        found = findings(*LOAD, test, write, "@P1 BRA 0x60", other, use, "EXIT")
        self.assertEqual(list(found), [0x60])
        # A loop computes the guard again: its copy is an older one, and what was written under it is not known.
        found = findings(*LOAD, "MOV R10, R4", test, back, "@!P3 STS [R10], RZ", packed, "@!P3 MOV R10, 0x400",
                         "@P1 BRA 0x30", "EXIT")
        self.assertEqual(list(found), [0x50])

    def test_tables_of_public_data(self):
        """In kernels that make A by look-ups, words of shared memory are public and bytes are not."""
        for load, found in (("LDS", 0), ("LDS.128", 0), ("LDS.U8", 1), ("LDS.64", 1)):
            code = (f"{load} R4, [R8]", "PRMT R6, R4, 0x5504, R3", "LDS R6, [R6]", "EXIT")
            self.assertEqual(len(findings(*code, name="mul_s_a_aes_kernel")), found, load)
            self.assertEqual(len(findings(*code, name="mul_s_a_shake_kernel")), 1, load)
        code = (*LOAD, "PRMT R6, R4, 0x5504, R3", "LDS R6, [R6]", "EXIT")  # from a parameter that is not the seed
        self.assertEqual(len(findings(*code, name="mul_s_a_aes_kernel")), 1)

    def test_findings_that_were_read(self):
        """READ explains as many findings as were read: with one more or less, all of them are reported."""
        for kernel, _, count, _ in sass_check.READ:
            self.assertGreater(count, 0, kernel)
        name, text = "_ZN7polykem5mldsa4cuda15expand_s_kernel", "STS.U8 [R1], R2: an address"
        for count, left in ((272, 272), (273, 0), (274, 274)):
            self.assertEqual(len(sass_check.without_known(name, dict.fromkeys(range(count), text))[0]), left)

    def test_secrets_come_around_a_loop(self):
        found = findings(*LOAD, "STS [R6], RZ", "IMAD.MOV.U32 R6, RZ, RZ, R4", "BRA 0x20", "EXIT")
        self.assertEqual(list(found), [0x20])

    def test_wide_results_and_sources(self):
        self.found("an address", "LDG.E.128 R8, desc[UR4][R2.64]", "LDS R5, [R11]")
        self.found("an address", "IMMA.16832.U8.U8 R8, R12.ROW, R4.COL, RZ", "LDS R5, [R11]")
        self.found("an address", "IMMA.16832.U8.U8 R8, R1.ROW, R16.COL, RZ", "LDS R5, [R10]")  # R1 .. R4
        self.found("an address", "LDSM.16.M88.4 R8, [R2]", "LDS R5, [R11]")

    def test_public_parameters(self):
        place = ["LDC.64 R2, c[0x0][0x238]"]  # the parameter at byte 40
        use = ["IMAD.WIDE.U32 R6, R4, 0x4, R2", "STG.E desc[UR4][R6.64], RZ", "EXIT"]
        other = ["LDC.64 R2, c[0x0][0x248]"]
        for load in ("LDG.E R4, desc[UR4][R2.64]", "ATOMG.E.ADD.STRONG.GPU PT, R4, desc[UR4][R2.64], R5"):
            self.assertEqual(findings(*place, load, *use, public={40}), {})
            self.assertEqual(len(findings(*place, load, *use)), 1, load)
            self.assertEqual(len(findings(*other, load, *use, public={40})), 1, load)

    def test_arguments_by_name(self):
        """Names become offsets, from the source's arguments and the object's description of them."""
        listing = [".nv.info.one"]
        for ordinal, offset, size in ((2, 0x28, 8), (1, 0x10, 0x18), (0, 0, 0x10), (3, 0x30, 4)):
            listing.append(f"  Value:  Index : 0x0  Ordinal : {ordinal:#x}  Offset  : {offset:#x}  Size    : {size:#x}")
        places = sass_check.parameters("\n".join(listing))["one"]
        self.assertEqual(places, [(0, 16), (16, 24), (40, 8), (48, 4)])
        sample = "_ZN7polykem5mlkem4cuda17sample_ntt_kernelI"  # to, rho, retries, entries
        self.assertEqual(sass_check.public_offsets(sample, places), {16, 20, 24, 28, 32, 36, 40, 44, 48})
        with self.assertRaises(SystemExit):  # the source has four
            sass_check.public_offsets(sample, places[:3])
        expand_a = "_ZN7polykem5saber4cuda15expand_a_kernelI"  # forms, form_bytes, work
        self.assertEqual(sass_check.public_offsets(expand_a, [(0, 8), (8, 8), (16, 256)]), {16, 104})
        self.assertEqual(sass_check.public_offsets("_Z6kernel", [(0, 8)]), set())

    def test_every_public_argument_is_one(self):
        signatures = sass_check.signatures()
        self.assertGreater(len(signatures), 50)
        for kernel, (_, words) in sass_check.PUBLIC.items():
            names = {name for _, path, names in signatures for name in names
                     if path.parent.parent.name in kernel or "4cuda" not in kernel}
            self.assertEqual({word.partition(".")[0] for word in words.split()} - names, set(), kernel)


@unittest.skipUnless("POLYKEM_CUOBJDUMP" in os.environ, "there is no disassembler")
class Compiled(unittest.TestCase):
    def run_tool(self, *objects):
        tool = [sys.executable, "-B", str(ROOT / "tools/sass_check.py"), "--verbose"]
        tool += ["--cuobjdump", os.environ["POLYKEM_CUOBJDUMP"]]
        return subprocess.run([*tool, *objects], capture_output=True, text=True, check=False)

    def test_planted_leaks(self):
        done = self.run_tool(os.environ["POLYKEM_LEAKS"])
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        found = {name: int(count) for name, count in re.findall(r"^(\w+) \(.*: (\d+) findings", done.stdout, re.M)}
        self.assertEqual(len(found), 7, done.stdout)
        for name, count in found.items():
            self.assertEqual(count > 0, name.startswith("leak_"), done.stdout)

    def test_production_kernels(self):
        done = self.run_tool(*os.environ["POLYKEM_KERNELS"].split())
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        print(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    unittest.main()
