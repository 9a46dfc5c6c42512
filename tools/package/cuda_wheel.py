# SPDX-License-Identifier: Apache-2.0
"""Packs the CUDA modules as the wheel polykem-cuda, which `pip install polykem[cuda]` installs.

They go to the folder of the package polykem, beside its extension, which looks for them there first. A module
serves only the library of its own version, and so does the wheel.
"""

import base64
import hashlib
import time
import zipfile

import record

MODULES = ("libpolykem_cuda.so", "libpolykem_ckks_cuda.so")
NOTICE = """\
What this wheel contains beside the CUDA modules of polykem, which have the licence Apache-2.0 (LICENSE).

NVIDIA's CUDA runtime, linked statically. Copyright NVIDIA Corporation. Licence: the CUDA Toolkit's End User License
Agreement, whose Attachment A lists libcudart_static.a as redistributable; https://docs.nvidia.com/cuda/eula.

GCC's C++ runtime, libstdc++, linked statically. Copyright Free Software Foundation, Inc. Licence: GPL-3.0-or-later with
the GCC Runtime Library Exception 3.1, which allows this use under any terms.
"""


def metadata(version):
    return f"""\
Metadata-Version: 2.4
Name: polykem-cuda
Version: {version}
Summary: The CUDA modules of polykem: batched post-quantum key exchange on NVIDIA GPUs
License-Expression: Apache-2.0 AND LicenseRef-NVIDIA-CUDA-EULA
License-File: LICENSE
License-File: NOTICE
Classifier: Operating System :: POSIX :: Linux
Classifier: Environment :: GPU :: NVIDIA CUDA
Requires-Dist: polykem=={version}

The GPU code of the package polykem, without which it has no use: `pip install polykem[cuda]`.
"""


def contents(modules, version):
    """Returns {path in the wheel: bytes}."""
    info = f"polykem_cuda-{version}.dist-info"
    files = {f"polykem/{name}": (modules / name).read_bytes() for name in MODULES}
    files[f"{info}/METADATA"] = metadata(version).encode()
    files[f"{info}/WHEEL"] = (b"Wheel-Version: 1.0\nGenerator: polykem cuda_wheel\nRoot-Is-Purelib: false\n"
                              b"Tag: py3-none-linux_x86_64\n")
    files[f"{info}/licenses/LICENSE"] = (record.ROOT / "LICENSE").read_bytes()
    files[f"{info}/licenses/NOTICE"] = NOTICE.encode()
    rows = [f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip('=')},{len(data)}"
            for name, data in files.items()]
    files[f"{info}/RECORD"] = "\n".join([*rows, f"{info}/RECORD,,", ""]).encode()
    return files


def pack(modules, version, seconds, folder):
    """Packs the modules in a folder. The same modules and time give the same bytes."""
    date = time.gmtime(seconds)[:6]
    wheel = folder / f"polykem_cuda-{version}-py3-none-linux_x86_64.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, data in contents(modules, version).items():
            entry = zipfile.ZipInfo(name, date)
            entry.external_attr = (0o755 if name.endswith(".so") else 0o644) << 16
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED, 9)
    return wheel
