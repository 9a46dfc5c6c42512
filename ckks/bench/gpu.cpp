// SPDX-License-Identifier: Apache-2.0
#include "ckks.hpp"

namespace polykem::ckks::lab {

Device* open_gpu(std::string& problem) {
  const auto open =
      reinterpret_cast<OpenDevice>(polykem::lab::find_in_module("libpolykem_lab_ckks_cuda.so", kOpenDevice, problem));
  return open == nullptr ? nullptr : open(&problem);
}

}  // namespace polykem::ckks::lab
