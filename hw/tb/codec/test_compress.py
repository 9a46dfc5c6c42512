# SPDX-License-Identifier: Apache-2.0
"""Every value of every width beside [FIPS203, 4.7]; the second coefficient goes through them backwards."""

import cocotb
from every_value import check
from model import codec, ring


@cocotb.test()
async def all_values(dut):
    def drive(value, d):
        dut.width_i.value, dut.x_i.value = codec.WIDTHS.index(d), value | (ring.Q - 1 - value) << 12

    def expected(value, d):
        return codec.compress(value, d) | codec.compress(ring.Q - 1 - value, d) << 11

    await check(dut, drive, dut.y_o, 2, lambda d: ring.Q, expected, lambda d: 1 << (d + 11))
