// SPDX-License-Identifier: Apache-2.0
// The environment variables that the library reads. With raised rights (setuid, setcap) it reads none of them.
#pragma once

namespace polykem::environment {

/// The backend that is forced, unless polykem_config names one.
inline constexpr const char* kBackend = "POLYKEM_BACKEND";
/// CPU features to ignore, separated by commas.
inline constexpr const char* kCpuMask = "POLYKEM_CPU_MASK";
/// Paths of modules; set but empty: the module is not loaded.
inline constexpr const char* kCudaModule = "POLYKEM_CUDA_MODULE";
inline constexpr const char* kRtlModule = "POLYKEM_RTL_MODULE";
/// The device files of hardware cores: commas separate the files of one core, semicolons the cores.
inline constexpr const char* kRtlUio = "POLYKEM_RTL_UIO";

}  // namespace polykem::environment
