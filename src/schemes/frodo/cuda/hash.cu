// SPDX-License-Identifier: Apache-2.0
#include "schemes/frodo/cuda/hash.cuh"

#include "schemes/frodo/cuda/records.cuh"

namespace polykem::frodo::cuda {

namespace {

/// Calls f with the rate and the number of thresholds of a set as types: SHAKE128 for n = 640, SHAKE256 for the others.
template <class F>
void with_rate(const LaunchContext& t, F&& f) {
  constexpr auto k640 = static_cast<int>(kFrodo640.cdf.size - 1), k976 = static_cast<int>(kFrodo976.cdf.size - 1);
  static_assert(kFrodo976.cdf.size >= kFrodo1344.cdf.size);
  if (t.set.p.shake256) {
    f(std::integral_constant<int, polykem::cuda::kShake256Words>{}, std::integral_constant<int, k976>{});
  } else {
    f(std::integral_constant<int, polykem::cuda::kShake128Words>{}, std::integral_constant<int, k640>{});
  }
}

}  // namespace

void draw(LaunchContext& t) {
  const size_t bytes = t.op == Op::keygen ? t.set.keygen_draw_bytes() : t.set.encaps_draw_bytes();
  if (t.io.draws != nullptr) {
    t.keep(cudaMemcpy2DAsync(t.draws, kDrawStride, t.io.draws, bytes, bytes, t.count(), cudaMemcpyDeviceToDevice,
                             t.stream));
    return;
  }
  const auto domain = t.op == Op::keygen ? polykem::cuda::DrawDomain::keygen : polykem::cuda::DrawDomain::encaps;
  t.launch(draw_kernel<kDrawStride>, t.lane_blocks(), 32, 0, t.draws, t.io.seed, domain, t.count());
}

void expand_keygen(LaunchContext& t) {
  with_rate(t, [&](auto rate, auto count) {
    t.launch(expand_keygen_kernel<rate, count>, t.lane_blocks(), 32, 0, t.io.pk_out, t.io.sk_out, noise_of(t),
             draws_of(t), t.sizes, thresholds(t.set.p.cdf), t.count());
  });
}

void hash_new_pk(LaunchContext& t) {
  with_rate(t, [&](auto rate, auto) {
    t.launch(hash_pk_kernel<rate>, t.lane_blocks(), 32, 0, Rows{t.io.sk_out + t.sizes.pkh_offset, t.sizes.sk_bytes},
             Records{t.io.pk_out, t.sizes.pk_bytes}, t.sizes.pk_bytes, t.sizes.secret_words, t.count());
  });
}

void hash_pk(LaunchContext& t) {
  const size_t keys = t.io.shared_key ? 1 : t.count();
  with_rate(t, [&](auto rate, auto) {
    t.launch(hash_pk_kernel<rate>, polykem::cuda::blocks_for(keys, 32), 32, 0, pkh_of(t), pk_of(t), t.sizes.pk_bytes,
             t.sizes.secret_words, keys);
  });
}

void expand_encaps(LaunchContext& t) {
  with_rate(t, [&](auto rate, auto count) {
    t.launch(expand_encaps_kernel<rate, count>, t.lane_blocks(), 32, 0, noise_of(t), k_of(t), pkh_of(t), draws_of(t),
             t.sizes, thresholds(t.set.p.cdf), t.count());
  });
}

void hash_ss(LaunchContext& t) {
  const uint32_t* fail = t.op == Op::decaps ? t.fail : nullptr;
  with_rate(t, [&](auto rate, auto) {
    t.launch(hash_ss_kernel<rate>, t.lane_blocks(), 32, 0, t.io.ss_out, ct_of(t), k_of(t), sk_of(t), fail, t.sizes,
             t.count());
  });
}

}  // namespace polykem::frodo::cuda
