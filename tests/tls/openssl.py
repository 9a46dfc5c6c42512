# SPDX-License-Identifier: Apache-2.0
"""Makes OpenSSL's configuration for a process, and a certificate."""

import os
import pathlib
import re
import subprocess

# The provider's module, and for comparisons the module of another provider. Where PEER is empty, there is none.
BUILD = pathlib.Path(os.environ.get("POLYKEM_TLS_TREE", pathlib.Path(__file__).resolve().parents[2] / "build"))
MODULE = os.environ.get("POLYKEM_PROVIDER", BUILD / "ossl-modules/polykem.so")
PEER = os.environ.get("POLYKEM_PEER_PROVIDER", "")
# A CUDA module that stands for a device (tests/cuda_module/simulated_device.cpp).
SIMULATED_DEVICE = os.environ.get("POLYKEM_SIMULATED_DEVICE",
                                  BUILD / "tests/cuda_module/libpolykem_simulated_device.so")
# Where another OpenSSL than the system's is installed; empty: nowhere.
PREFIX = os.environ.get("POLYKEM_OPENSSL", "")

CONFIGURATION = """\
config_diagnostics = 1
openssl_conf = start
[start]
providers = providers
{algorithms}
[providers]
default = default_provider
{other}
[default_provider]
activate = 1
"""
SECTION = """\
[other_provider]
activate = 1
module = {module}
{settings}
"""


def environment(prefix=None, **variables):
    """Returns the environment of a process that uses the OpenSSL at `prefix` ("": the system's) as configured here, not
    as in the shell."""
    prefix = PREFIX if prefix is None else prefix
    found = {name: value for name, value in os.environ.items() if not name.startswith(("OPENSSL_", "POLYKEM_"))}
    if prefix:
        found["LD_LIBRARY_PATH"] = f"{prefix}/lib"
    return {**found, **{name: str(value) for name, value in variables.items()}}


def program(prefix=None):
    prefix = PREFIX if prefix is None else prefix
    return f"{prefix}/bin/openssl" if prefix else "openssl"


def run(*arguments, input_text="", prefix=None, **variables):
    """Runs `openssl ...` to its end. prefix: of another OpenSSL."""
    return subprocess.run([program(prefix), *map(str, arguments)], input=input_text, capture_output=True, text=True,
                          timeout=200, check=False, env=environment(prefix, **variables))


def version():
    """Returns the library's version, such as (3, 0)."""
    major, minor = re.findall(r"OpenSSL (\d+)\.(\d+)", run("version").stdout)[-1]
    return int(major), int(minor)


def configuration(folder, provider, **settings):
    """Writes an openssl.cnf with a provider ("none", "polykem", "peer") and returns its path."""
    path = pathlib.Path(folder) / f"openssl-{provider}.cnf"
    other, section, algorithms = "", "", ""
    if provider != "none":
        name = "polykem" if provider == "polykem" else "oqsprovider"
        other = f"{name} = other_provider"
        module = pathlib.Path(MODULE if provider == "polykem" else PEER).resolve()
        lines = "\n".join(f"{key} = {value}" for key, value in settings.items())
        section = SECTION.format(module=module, settings=lines)
    if provider == "polykem":  # even if OpenSSL has an ML-KEM of its own, polykem's is used
        algorithms = "alg_section = algorithms"
        section += "[algorithms]\ndefault_properties = ?provider=polykem\n"
    path.write_text(CONFIGURATION.format(other=other, algorithms=algorithms) + section)
    return path


def simulated_device(microseconds=1000, fault=None):
    """Returns the environment of a server with a simulated device that takes so long for a batch. fault: a file that
    simulated_device.cpp explains."""
    found = {"POLYKEM_CUDA_MODULE": pathlib.Path(SIMULATED_DEVICE).resolve(), "SIMULATED_DEVICE_US": microseconds}
    return {**found, "SIMULATED_DEVICE_FAULT": fault} if fault else found


def certificate(folder, algorithm="P-256", prefix=None):
    """Makes a key (of that curve or signature algorithm) and a certificate for localhost with the OpenSSL at `prefix`;
    returns their paths. Clients trust the certificate itself; some insist that it is not an authority's."""
    folder = pathlib.Path(folder)
    key, crt = folder / "key.pem", folder / "crt.pem"
    plain = folder / "req.cnf"
    # The program of OpenSSL 3.0 crashes with -addext on the library of 3.5.
    plain.write_text("[req]\ndistinguished_name = name\nx509_extensions = extensions\n[name]\n[extensions]\n"
                     "subjectAltName = DNS:localhost,IP:127.0.0.1\nbasicConstraints = critical,CA:FALSE\n")
    new = ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"] if algorithm == "P-256" else [algorithm]
    done = run("req", "-config", plain, "-x509", "-newkey", *new, "-nodes", "-days", 2, "-keyout", key, "-out", crt,
               "-subj", "/CN=localhost", prefix=prefix)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return key, crt
