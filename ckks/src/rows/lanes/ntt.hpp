// SPDX-License-Identifier: Apache-2.0
// Transforms of rows in vectors of any width. Between layers a word is in the form and the range of an Arithmetic,
// whose comments state them, after [HARVEY14, 3].
#pragma once

#include "ckks/src/rows/rows.hpp"
#include "core/isa.hpp"

namespace polykem::ckks {
inline namespace POLYKEM_ISA {

/// The most words of a block whose layers are computed while it is in the first-level cache.
inline constexpr size_t kBlockWords = 4096;

/// What Arithmetics share whose words are residues plus multiples of q, in [0, kMultiple q). kMultiple is 2 or 4.
template <class L, unsigned kMultiple>
class LazyWords {
  using V = typename L::V;

 public:
  using Lanes = L;

  POLYKEM_INLINE explicit LazyWords(const Modulus& m)
      : q_(L::all(m.value())), q2_(L::all(2 * m.value())), limit_(L::all(kMultiple * m.value())) {}

  POLYKEM_INLINE static V enter(V residue) { return residue; }
  POLYKEM_INLINE static V sum(V a, V b) { return L::add(a, b); }
  /// Returns a - b + kMultiple q. Range in: b in [0, kMultiple q].
  POLYKEM_INLINE V difference(V a, V b) const { return L::sub(L::add(a, limit_), b); }
  /// Range in: [0, 2 kMultiple q). Range out: [0, kMultiple q).
  POLYKEM_INLINE V reduce(V a) const { return L::reduce(a, limit_); }
  /// Range in: [0, kMultiple q). Range out: [0, q).
  POLYKEM_INLINE V canonical(V a) const { return L::reduce(kMultiple == 4 ? L::reduce(a, q2_) : a, q_); }

 protected:
  V q_;

 private:
  V q2_, limit_;
};

/// The butterflies of a transform over vectors of an Arithmetic. Layers are those of [LN16, Alg 1 and 2]: a layer of
/// `groups` groups has a factor for each, and pairs of words half a group apart.
template <class Arithmetic>
class Butterflies {
  using Lanes = typename Arithmetic::Lanes;
  using V = typename Lanes::V;
  static constexpr size_t kCount = Lanes::kCount;

 public:
  POLYKEM_INLINE Butterflies(const Modulus& m, const NttTables& tables) : arithmetic_(m), tables_(tables) {}

  void forward(uint64_t* a) const { forward_block<true>(1, 0, a, tables_.n); }
  void inverse(const LastLayer& last, const uint64_t* a, uint64_t* out) const {
    inverse_block<true>(last, 1, 0, a, out, tables_.n);
  }

 private:
  /// Computes the layers of one group of `size` words, number `group` of `groups`.
  template <bool kFirst>
  void forward_block(size_t groups, size_t group, uint64_t* a, size_t size) const {
    if (size > kBlockWords) {
      forward_two_layers<kFirst>(groups, group, a, size);
      for (size_t i = 0; i < 4; ++i)
        forward_block<false>(4 * groups, 4 * group + i, a + i * (size / 4), size / 4);
      return;
    }
    size_t inside = 1, length = size;  // groups of the block in this layer, and their words
    if (odd_layers(size)) {
      forward_layer<kFirst>(groups, group, a, length);
      inside = 2, length /= 2;
    } else {
      forward_two_layers<kFirst>(groups, group, a, length);
      inside = 4, length /= 4;
    }
    for (; length > kCount; inside *= 4, length /= 4) {
      for (size_t i = 0; i < inside; ++i)
        forward_two_layers<false>(groups * inside, group * inside + i, a + i * length, length);
    }
    forward_tail(groups * (size / kCount), group * (size / kCount), a, size);
  }

  template <bool kLast>
  void inverse_block(const LastLayer& last, size_t groups, size_t group, const uint64_t* a, uint64_t* out,
                     size_t size) const {
    if (size > kBlockWords) {
      for (size_t i = 0; i < 4; ++i)
        inverse_block<false>(last, 4 * groups, 4 * group + i, a + i * (size / 4), out + i * (size / 4), size / 4);
      inverse_two_layers<kLast>(last, groups, group, out, size);
      return;
    }
    inverse_tail(groups * (size / kCount), group * (size / kCount), a, out, size);
    const size_t top =
        odd_layers(size) ? size / 2 : size;  // words of the largest groups that are left in pairs of layers
    for (size_t length = 4 * kCount; length <= top; length *= 4) {
      const size_t inside = size / length;
      if (kLast && length == size) {
        inverse_two_layers<kLast>(last, groups, group, out, length);
      } else {
        for (size_t i = 0; i < inside; ++i)
          inverse_two_layers<false>(last, groups * inside, group * inside + i, out + i * length, length);
      }
    }
    if (odd_layers(size)) inverse_layer<kLast>(last, groups, group, out, size);
  }

  /// Returns whether the layers whose halves are vectors or more are an odd number.
  static bool odd_layers(size_t size) { return __builtin_ctzll(size / kCount) % 2 != 0; }

  template <bool kFirst>
  void forward_layer(size_t groups, size_t group, uint64_t* a, size_t size) const {
    const auto root = forward_root(groups + group);
    for (size_t j = 0; j < size / 2; j += kCount) {
      V x = entered<kFirst>(a + j), y = entered<kFirst>(a + size / 2 + j);
      forward_butterfly(x, y, root);
      Lanes::store(a + j, x);
      Lanes::store(a + size / 2 + j, y);
    }
  }
  template <bool kFirst>
  void forward_two_layers(size_t groups, size_t group, uint64_t* a, size_t size) const {
    const size_t first = groups + group, quarter = size / 4;
    const auto root = forward_root(first), left = forward_root(2 * first), right = forward_root(2 * first + 1);
    for (size_t j = 0; j < quarter; j += kCount) {
      V x[4];
      for (size_t i = 0; i < 4; ++i)
        x[i] = entered<kFirst>(a + i * quarter + j);
      forward_butterfly(x[0], x[2], root);
      forward_butterfly(x[1], x[3], root);
      forward_butterfly(x[0], x[1], left);
      forward_butterfly(x[2], x[3], right);
      for (size_t i = 0; i < 4; ++i)
        Lanes::store(a + i * quarter + j, x[i]);
    }
  }
  /// Computes the layers of groups within a vector, two vectors at a time. groups, group: of vectors.
  void forward_tail(size_t groups, size_t group, uint64_t* a, size_t size) const {
    for (size_t j = 0; j < size; j += 2 * kCount, group += 2) {
      V x = Lanes::load(a + j), y = Lanes::load(a + j + kCount);
      forward_within<0>(groups + group, x, y);
      Lanes::store(a + j, arithmetic_.canonical(arithmetic_.reduce(x)));
      Lanes::store(a + j + kCount, arithmetic_.canonical(arithmetic_.reduce(y)));
    }
  }
  /// first: the number of the first root of layer 0 within these two vectors.
  template <size_t kLayer>
  POLYKEM_INLINE void forward_within(size_t first, V& x, V& y) const {
    if constexpr (kLayer < Lanes::kLayers) {
      Lanes::template gather<kLayer>(x, y);
      const size_t at = first << kLayer;
      forward_butterfly(x, y, arithmetic_.template roots<kLayer>(tables_.roots + at, tables_.root_quotients + at));
      forward_within<kLayer + 1>(first, x, y);
      Lanes::template scatter<kLayer>(x, y);
    }
  }
  template <class Root>
  POLYKEM_INLINE void forward_butterfly(V& x, V& y, const Root& root) const {
    const V a = arithmetic_.reduce(x), b = arithmetic_.multiply(y, root);
    x = arithmetic_.sum(a, b);
    y = arithmetic_.difference(a, b);
  }
  template <bool kFirst>
  POLYKEM_INLINE V entered(const uint64_t* a) const {
    return kFirst ? arithmetic_.enter(Lanes::load(a)) : Lanes::load(a);
  }
  POLYKEM_INLINE auto forward_root(size_t i) const {
    return arithmetic_.root({tables_.roots[i], tables_.root_quotients[i]});
  }

  template <bool kLast>
  void inverse_layer(const LastLayer& last, size_t groups, size_t group, uint64_t* a, size_t size) const {
    const auto root = inverse_root(groups + group);
    const auto sum = arithmetic_.root(last.sum), difference = arithmetic_.root(last.difference);
    for (size_t j = 0; j < size / 2; j += kCount) {
      V x = Lanes::load(a + j), y = Lanes::load(a + size / 2 + j);
      if constexpr (kLast) {
        last_butterfly(x, y, sum, difference);
      } else {
        inverse_butterfly(x, y, root);
      }
      Lanes::store(a + j, x);
      Lanes::store(a + size / 2 + j, y);
    }
  }
  template <bool kLast>
  void inverse_two_layers(const LastLayer& last, size_t groups, size_t group, uint64_t* a, size_t size) const {
    const size_t first = groups + group, quarter = size / 4;
    const auto root = inverse_root(first), left = inverse_root(2 * first), right = inverse_root(2 * first + 1);
    const auto sum = arithmetic_.root(last.sum), difference = arithmetic_.root(last.difference);
    for (size_t j = 0; j < quarter; j += kCount) {
      V x[4];
      for (size_t i = 0; i < 4; ++i)
        x[i] = Lanes::load(a + i * quarter + j);
      inverse_butterfly(x[0], x[1], left);
      inverse_butterfly(x[2], x[3], right);
      for (size_t i = 0; i < 2; ++i) {
        if constexpr (kLast) {
          last_butterfly(x[i], x[i + 2], sum, difference);
        } else {
          inverse_butterfly(x[i], x[i + 2], root);
        }
      }
      for (size_t i = 0; i < 4; ++i)
        Lanes::store(a + i * quarter + j, x[i]);
    }
  }
  void inverse_tail(size_t groups, size_t group, const uint64_t* a, uint64_t* out, size_t size) const {
    for (size_t j = 0; j < size; j += 2 * kCount, group += 2) {
      V x = entered<true>(a + j), y = entered<true>(a + j + kCount);
      inverse_within<0>(groups + group, x, y);
      Lanes::store(out + j, x);
      Lanes::store(out + j + kCount, y);
    }
  }
  template <size_t kLayer>
  POLYKEM_INLINE void inverse_within(size_t first, V& x, V& y) const {
    if constexpr (kLayer < Lanes::kLayers) {
      Lanes::template gather<kLayer>(x, y);
      inverse_within<kLayer + 1>(first, x, y);
      const size_t at = first << kLayer;
      inverse_butterfly(
          x, y, arithmetic_.template roots<kLayer>(tables_.inverse_roots + at, tables_.inverse_root_quotients + at));
      Lanes::template scatter<kLayer>(x, y);
    }
  }
  template <class Root>
  POLYKEM_INLINE void inverse_butterfly(V& x, V& y, const Root& root) const {
    const V sum = arithmetic_.sum(x, y), difference = arithmetic_.difference(x, y);
    x = arithmetic_.reduce(sum);
    y = arithmetic_.multiply(difference, root);
  }
  template <class Root>
  POLYKEM_INLINE void last_butterfly(V& x, V& y, const Root& of_sum, const Root& of_difference) const {
    const V sum = arithmetic_.sum(x, y), difference = arithmetic_.difference(x, y);
    x = arithmetic_.canonical(arithmetic_.multiply(sum, of_sum));
    y = arithmetic_.canonical(arithmetic_.multiply(difference, of_difference));
  }
  POLYKEM_INLINE auto inverse_root(size_t i) const {
    return arithmetic_.root({tables_.inverse_roots[i], tables_.inverse_root_quotients[i]});
  }

  Arithmetic arithmetic_;
  NttTables tables_;
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::ckks
