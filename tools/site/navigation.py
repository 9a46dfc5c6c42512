# SPDX-License-Identifier: Apache-2.0
"""The site's menu. A page that is not here is not in the site, and each page below docs/ must be."""

NAVIGATION = {
    "Start here": ["docs/for_operators.md", "docs/for_developers.md", "docs/for_researchers.md",
                   "docs/for_hardware.md"],
    "Guide": ["docs/user_guide.md", "docs/program.md", "docs/parameter_sets.md", "commands",
              "docs/exit_codes.md", "docs/versions.md"],
    "Python": ["docs/python.md", "docs/hpke.md", "ckks/README.md", "docs/bulk.md", "docs/report.md", "api/python"],
    "Servers": ["docs/tls.md", "docs/tls_reference.md", "docs/broker.md", "docs/protocol.md"],
    "GPU": ["docs/gpu.md", "docs/gpu_design.md"],
    "Hardware": ["docs/hardware.md"],
    "Arm": ["docs/arm.md", "tools/m4cycles/README.md"],
    "C": ["api/c"],
    "Figures": ["docs/performance.md", "docs/gpu_figures.md", "docs/tls_figures.md", "docs/hpke_figures.md",
                "docs/bulk_figures.md", "ckks/figures.md", "docs/arm_figures.md",
                "research/README.md", "research/frodo_cuda/README.md", "research/lab/README.md",
                "research/seong2021/README.md"],
    "Design": ["ARCHITECTURE.md", "src/schemes/ntru/README.md", "src/schemes/mlkem/README.md",
               "src/schemes/frodo/README.md", "src/schemes/saber/README.md", "src/schemes/lac/README.md",
               "src/prim/README.md", "src/prim/keccak/README.md", "src/engine/README.md", "src/broker/README.md",
               "src/accelerators/README.md", "cli/README.md", "provider/README.md", "tests/README.md",
               "ckks/src/README.md",
               "ckks/src/cuda/README.md", "ckks/openfhe/README.md", "src/embedded/README.md",
               "hw/README.md", "hw/doc/walk.md", "hw/doc/registers.md", "docs/side_channels.md", "decisions",
               "bibliography"],
    "Project": ["CONTRIBUTING.md", "SOUNDNESS.md", "SECURITY.md", "CHANGELOG.md"],
}
