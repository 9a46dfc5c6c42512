# SPDX-License-Identifier: Apache-2.0
"""The tests of test_servers.py that `make test` leaves out: those of the other servers and groups."""

import unittest

import test_servers
from servers import Apache, SServer, TrafficServer


class Device(test_servers.Device):
    KINDS = (TrafficServer,)


class FallBack(test_servers.FallBack):
    KINDS = (TrafficServer, Apache, SServer)
    test_nginx_logs_the_group = None


class FrodoKem(test_servers.EachGroup):
    UNDER_LOAD = ("frodo1344shake",)
    test_negotiates = test_another_key_share = None


if __name__ == "__main__":
    unittest.main()
