// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ckks/python/src/ckks_binding.hpp"

namespace polykem::python {
namespace {

using namespace nb::literals;
using Numbers = std::vector<std::uint64_t>;

constexpr std::size_t kMaxPrimes = 1024;  ///< far beyond what a parameter set has

[[noreturn]] void raise_ckks(polykem_ckks_status status, const std::string& text) {
  const nb::object error = nb::module_::import_("polykem.ckks._errors").attr("error")(static_cast<int>(status), text);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  throw nb::python_error();
}

const std::uint64_t* pointer(const Numbers& numbers) {
  return numbers.empty() ? nullptr : numbers.data();
}

CkksContext make_context(unsigned log_n, const NumberList& q_list, const NumberList& q_root_list,
                         const NumberList& p_list, const NumberList& p_root_list, unsigned digits, unsigned threads,
                         bool allow_insecure) {
  const Numbers q = numbers(q_list), q_roots = numbers(q_root_list);
  const Numbers p = numbers(p_list), p_roots = numbers(p_root_list);
  if ((!q_roots.empty() && q_roots.size() != q.size()) || (!p_roots.empty() && p_roots.size() != p.size()))
    refuse_ckks("there must be as many roots as primes, or none");
  const polykem_ckks_parameters parameters{sizeof(polykem_ckks_parameters),
                                           log_n,
                                           q.size(),
                                           pointer(q),
                                           pointer(q_roots),
                                           p.size(),
                                           pointer(p),
                                           pointer(p_roots),
                                           digits,
                                           threads,
                                           allow_insecure};
  return made<polykem_ckks_context>(
      [&](polykem_ckks_context** out) { return polykem_ckks_context_new(&parameters, out); });
}

Numbers find_primes(unsigned log_n, unsigned bits, std::size_t count, const NumberList& taken_list) {
  const Numbers taken = numbers(taken_list);
  if (count > kMaxPrimes) refuse_ckks("at most " + std::to_string(kMaxPrimes) + " primes");
  Numbers out(count);
  check_ckks(polykem_ckks_find_primes(log_n, bits, count, taken.data(), taken.size(), out.data()));
  return out;
}

std::size_t ring(const CkksContext& context) {
  return polykem_ckks_ring_dimension(context.get());
}

std::pair<std::uint64_t, std::uint64_t> prime(const CkksContext& context, std::size_t i) {
  std::uint64_t q = 0, root = 0;
  check_ckks(polykem_ckks_prime(context.get(), i, &q, &root));
  return {q, root};
}

CkksPlaintexts encode(const CkksContext& context, nb::handle values, std::size_t count, std::size_t slots,
                      std::size_t limbs, double scale) {
  const Bytes in(values, "values", count * slots * 2 * sizeof(double), false);
  return made<polykem_ckks_plaintexts>([&](polykem_ckks_plaintexts** out) {
    return polykem_ckks_encode(context.get(), reinterpret_cast<const double*>(in.data()), count, slots, limbs, scale,
                               out);
  });
}

polykem_ckks_shape shape_of(const CkksPlaintexts& plaintexts) {
  polykem_ckks_shape shape{};
  shape.struct_size = sizeof shape;
  check_ckks(polykem_ckks_plaintexts_shape(plaintexts.get(), &shape));
  return shape;
}

void decode(const CkksContext& context, const CkksPlaintexts& plaintexts, nb::handle values) {
  const polykem_ckks_shape shape = shape_of(plaintexts);
  const Bytes out(values, "values", shape.count * shape.slots * 2 * sizeof(double), true);
  polykem_ckks_status status = POLYKEM_CKKS_OK;
  {
    const WithoutGil no_gil;
    status = polykem_ckks_decode(context.get(), plaintexts.get(), reinterpret_cast<double*>(out.data()),
                                 shape.count * shape.slots);
  }
  check_ckks(status);
}

/// A handle of a batch whose words Python has; `make` is ..._new of the C API.
template <class Handle, class Make>
Owned<Handle> from_words(const CkksContext& context, nb::handle words, std::size_t count, std::size_t parts,
                         std::size_t limbs, std::size_t slots, double scale, Make make) {
  const Bytes in(words, "words", count * parts * limbs * ring(context) * sizeof(std::uint64_t), false);
  const polykem_ckks_shape shape{sizeof(polykem_ckks_shape), count, parts, limbs, slots, scale};
  return made<Handle>([&](Handle** out) {
    return make(context.get(), &shape, reinterpret_cast<const std::uint64_t*>(in.data()),
                in.size() / sizeof(std::uint64_t), out);
  });
}

/// A handle of a key whose words Python has.
template <class Handle, class Make>
Owned<Handle> key_from_words(const CkksContext& context, nb::handle words, std::size_t rows, Make make) {
  const Bytes in(words, "words", rows * ring(context) * sizeof(std::uint64_t), false);
  return made<Handle>([&](Handle** out) {
    return make(context.get(), reinterpret_cast<const std::uint64_t*>(in.data()), in.size() / sizeof(std::uint64_t),
                out);
  });
}

void bind_context(nb::module_& m) {
  nb::class_<CkksContext>(m, "CkksContext")
      .def_prop_ro("ring_dimension", &ring)
      .def_prop_ro("modulus_bits", [](const CkksContext& c) { return polykem_ckks_modulus_bits(c.get()); })
      .def_prop_ro("security_bits", [](const CkksContext& c) { return polykem_ckks_security_bits(c.get()); })
      .def_prop_ro("conjugation_element",
                   [](const CkksContext& c) { return polykem_ckks_conjugation_element(c.get()); })
      .def(
          "rotation_element",
          [](const CkksContext& c, long steps) { return polykem_ckks_rotation_element(c.get(), steps); }, "steps"_a)
      .def("prime", &prime, "index"_a);
  m.def("ckks_context", &make_context, "log_n"_a, "q"_a, "q_roots"_a, "p"_a, "p_roots"_a, "digits"_a, "threads"_a,
        "allow_insecure"_a);
  m.def("ckks_find_primes", &find_primes, "log_n"_a, "bits"_a, "count"_a, "taken"_a);
  m.def("ckks_encode", &encode, "context"_a, "values"_a, "count"_a, "slots"_a, "limbs"_a, "scale"_a);
  m.def("ckks_decode", &decode, "context"_a, "plaintexts"_a, "values"_a);
}

template <class Batch>
void bind_shape(nb::class_<Batch>& batch) {
  batch.def_prop_ro("count", [](const Batch& b) { return shape_of(b).count; })
      .def_prop_ro("parts", [](const Batch& b) { return shape_of(b).parts; })
      .def_prop_ro("limbs", [](const Batch& b) { return shape_of(b).limbs; })
      .def_prop_ro("slots", [](const Batch& b) { return shape_of(b).slots; })
      .def_prop_ro("scale", [](const Batch& b) { return shape_of(b).scale; });
}

void bind_batches(nb::module_& m) {
  nb::class_<CkksPlaintexts> plaintexts(m, "CkksPlaintexts");
  bind_shape(plaintexts);
  plaintexts.def_prop_ro("place", [](const CkksPlaintexts& p) { return polykem_ckks_plaintexts_place(p.get()); });
  plaintexts.def(
      "words",
      [](const CkksPlaintexts& p, const CkksContext& context) {
        const polykem_ckks_shape s = shape_of(p);
        return words_of(p, &polykem_ckks_plaintexts_words, {s.count, s.limbs, ring(context)});
      },
      "context"_a);
  nb::class_<CkksCiphertexts> ciphertexts(m, "CkksCiphertexts");
  bind_shape(ciphertexts);
  ciphertexts.def_prop_ro("place", [](const CkksCiphertexts& c) { return polykem_ckks_ciphertexts_place(c.get()); });
  ciphertexts.def(
      "words",
      [](const CkksCiphertexts& c, const CkksContext& context) {
        const polykem_ckks_shape s = shape_of(c);
        return words_of(c, &polykem_ckks_ciphertexts_words, {s.count, s.parts, s.limbs, ring(context)});
      },
      "context"_a);
  m.def(
      "ckks_plaintexts",
      [](const CkksContext& context, nb::handle words, std::size_t count, std::size_t limbs, std::size_t slots,
         double scale) {
        return from_words<polykem_ckks_plaintexts>(context, words, count, 1, limbs, slots, scale,
                                                   &polykem_ckks_plaintexts_new);
      },
      "context"_a, "words"_a, "count"_a, "limbs"_a, "slots"_a, "scale"_a);
  m.def(
      "ckks_ciphertexts",
      [](const CkksContext& context, nb::handle words, std::size_t count, std::size_t parts, std::size_t limbs,
         std::size_t slots, double scale) {
        return from_words<polykem_ckks_ciphertexts>(context, words, count, parts, limbs, slots, scale,
                                                    &polykem_ckks_ciphertexts_new);
      },
      "context"_a, "words"_a, "count"_a, "parts"_a, "limbs"_a, "slots"_a, "scale"_a);
}

void bind_keys(nb::module_& m) {
  nb::class_<CkksSecretKey>(m, "CkksSecretKey");
  nb::class_<CkksPublicKey>(m, "CkksPublicKey")
      .def(
          "words",
          [](const CkksPublicKey& key, const CkksContext& context, std::size_t limbs) {
            return words_of(key, &polykem_ckks_public_key_words, {2, limbs, ring(context)});
          },
          "context"_a, "limbs"_a);
  nb::class_<CkksSwitchingKey>(m, "CkksSwitchingKey")
      .def_prop_ro("place", [](const CkksSwitchingKey& key) { return polykem_ckks_switching_key_place(key.get()); })
      .def(
          "words",
          [](const CkksSwitchingKey& key, const CkksContext& context, std::size_t digits, std::size_t primes) {
            return words_of(key, &polykem_ckks_switching_key_words, {digits, 2, primes, ring(context)});
          },
          "context"_a, "digits"_a, "primes"_a);
  m.def(
      "ckks_secret_key",
      [](const CkksContext& context) {
        return made<polykem_ckks_secret_key>(
            [&](polykem_ckks_secret_key** out) { return polykem_ckks_secret_key_generate(context.get(), out); });
      },
      "context"_a);
  m.def(
      "ckks_public_key",
      [](const CkksContext& context, const CkksSecretKey& secret) {
        return made<polykem_ckks_public_key>([&](polykem_ckks_public_key** out) {
          return polykem_ckks_public_key_generate(context.get(), secret.get(), out);
        });
      },
      "context"_a, "secret"_a);
  m.def(
      "ckks_switching_key",
      [](const CkksContext& context, const CkksSecretKey& secret, std::optional<std::uint64_t> g) {
        return made<polykem_ckks_switching_key>([&](polykem_ckks_switching_key** out) {
          return g ? polykem_ckks_automorphism_key_generate(context.get(), secret.get(), *g, out)
                   : polykem_ckks_relinearisation_key_generate(context.get(), secret.get(), out);
        });
      },
      "context"_a, "secret"_a, "g"_a.none());
  m.def(
      "ckks_switching_key_of",
      [](const CkksContext& context, nb::handle words, std::size_t rows) {
        return key_from_words<polykem_ckks_switching_key>(context, words, rows, &polykem_ckks_switching_key_new);
      },
      "context"_a, "words"_a, "rows"_a);
  m.def(
      "ckks_public_key_of",
      [](const CkksContext& context, nb::handle words, std::size_t rows) {
        return key_from_words<polykem_ckks_public_key>(context, words, rows, &polykem_ckks_public_key_new);
      },
      "context"_a, "words"_a, "rows"_a);
}

/// copy(..., out) of the C API.
template <class Handle, class Copy>
auto copied(Copy copy) {
  return [copy](const Owned<Handle>& object) {
    return made<Handle>([&](Handle** out) { return copy(object.get(), out); });
  };
}
template <class Handle, class Copy>
auto copied_to_device(Copy copy) {
  return [copy](const CkksDevice& device, const Owned<Handle>& object) {
    return made<Handle>([&](Handle** out) { return copy(device.get(), object.get(), out); });
  };
}

void bind_devices(nb::module_& m) {
  nb::class_<CkksDevice>(m, "CkksDevice").def("wait", [](const CkksDevice& device) {
    polykem_ckks_status status = POLYKEM_CKKS_OK;
    {
      const WithoutGil no_gil;
      status = polykem_ckks_device_wait(device.get());
    }
    check_ckks(status);
  });
  m.def(
      "ckks_device",
      [](const CkksContext& context, int ordinal, std::size_t scratch_bytes) {
        return made<polykem_ckks_device>([&](polykem_ckks_device** out) {
          return polykem_ckks_device_open(context.get(), ordinal, scratch_bytes, out);
        });
      },
      "context"_a, "ordinal"_a, "scratch_bytes"_a);
  m.def("ckks_to_device", copied_to_device<polykem_ckks_ciphertexts>(&polykem_ckks_ciphertexts_to_device));
  m.def("ckks_to_device", copied_to_device<polykem_ckks_plaintexts>(&polykem_ckks_plaintexts_to_device));
  m.def("ckks_to_device", copied_to_device<polykem_ckks_switching_key>(&polykem_ckks_switching_key_to_device));
  m.def("ckks_to_host", copied<polykem_ckks_ciphertexts>(&polykem_ckks_ciphertexts_to_host));
  m.def("ckks_to_host", copied<polykem_ckks_plaintexts>(&polykem_ckks_plaintexts_to_host));
}

/// Calls work(out) of the C API, which makes a new batch.
template <class Work>
CkksCiphertexts computed(const Work& work) {
  return made<polykem_ckks_ciphertexts>(work);
}

using Batches = nb::typed<nb::list, CkksCiphertexts>;
using KeyList = nb::typed<nb::sequence, CkksSwitchingKey>;

/// One batch for each g, with the key at its place in `key_list`.
Batches automorphisms(const CkksContext& context, const CkksCiphertexts& a, const NumberList& g_list,
                      const KeyList& key_list) {
  const Numbers gs = numbers(g_list);
  std::vector<const polykem_ckks_switching_key*> keys;
  for (const nb::handle key : key_list)
    keys.push_back(nb::cast<const CkksSwitchingKey&>(key).get());
  if (keys.size() != gs.size()) refuse_ckks("there must be as many keys as numbers g");
  std::vector<polykem_ckks_ciphertexts*> out(gs.size(), nullptr);
  std::vector<CkksCiphertexts> owned;
  owned.reserve(gs.size());
  polykem_ckks_status status = POLYKEM_CKKS_OK;
  {
    const WithoutGil no_gil;
    status = polykem_ckks_automorphisms(context.get(), a.get(), gs.data(), keys.data(), gs.size(), out.data());
  }
  check_ckks(status);
  for (polykem_ckks_ciphertexts* batch : out)
    owned.emplace_back(batch);
  Batches batches;
  for (CkksCiphertexts& batch : owned)
    batches.append(std::move(batch));
  return batches;
}

void bind_arithmetic(nb::module_& m) {
  using Out = polykem_ckks_ciphertexts**;
  using Context = CkksContext;
  using Batch = CkksCiphertexts;
  m.def("ckks_encrypt", [](const Context& c, const CkksPublicKey& key, const CkksPlaintexts& a) {
    return computed([&](Out out) { return polykem_ckks_encrypt(c.get(), key.get(), a.get(), out); });
  });
  m.def("ckks_decrypt", [](const Context& c, const CkksSecretKey& key, const Batch& a) {
    return made<polykem_ckks_plaintexts>(
        [&](polykem_ckks_plaintexts** out) { return polykem_ckks_decrypt(c.get(), key.get(), a.get(), out); });
  });
  m.def("ckks_combine", [](const Context& c, int operation, const Batch& a, const Batch& b) {
    const auto which = static_cast<polykem_ckks_operation>(operation);
    return computed([&](Out out) { return polykem_ckks_combine(c.get(), which, a.get(), b.get(), out); });
  });
  m.def("ckks_combine", [](const Context& c, int operation, const Batch& a, const CkksPlaintexts& b) {
    const auto which = static_cast<polykem_ckks_operation>(operation);
    return computed([&](Out out) { return polykem_ckks_combine_plain(c.get(), which, a.get(), b.get(), out); });
  });
  m.def("ckks_negate", [](const Context& c, const Batch& a) {
    return computed([&](Out out) { return polykem_ckks_negate(c.get(), a.get(), out); });
  });
  m.def("ckks_relinearise", [](const Context& c, const Batch& a, const CkksSwitchingKey& key) {
    return computed([&](Out out) { return polykem_ckks_relinearise(c.get(), a.get(), key.get(), out); });
  });
  m.def("ckks_rescale", [](const Context& c, const Batch& a) {
    return computed([&](Out out) { return polykem_ckks_rescale(c.get(), a.get(), out); });
  });
  m.def("ckks_keep_limbs", [](const Context& c, const Batch& a, std::size_t limbs) {
    return computed([&](Out out) { return polykem_ckks_keep_limbs(c.get(), a.get(), limbs, out); });
  });
  m.def("ckks_items", [](const Context& c, const Batch& a, std::size_t first, std::size_t count) {
    return computed([&](Out out) { return polykem_ckks_items(c.get(), a.get(), first, count, out); });
  });
  m.def("ckks_with_scale", [](const Context& c, const Batch& a, double scale) {
    return computed([&](Out out) { return polykem_ckks_with_scale(c.get(), a.get(), scale, out); });
  });
  m.def("ckks_automorphism", [](const Context& c, const Batch& a, std::uint64_t g, const CkksSwitchingKey& key) {
    return computed([&](Out out) { return polykem_ckks_automorphism(c.get(), a.get(), g, key.get(), out); });
  });
  m.def("ckks_automorphisms", &automorphisms);
}

}  // namespace

void check_ckks(polykem_ckks_status status) {
  if (status != POLYKEM_CKKS_OK) raise_ckks(status, polykem_ckks_error_text());
}

void refuse_ckks(const std::string& text) {
  raise_ckks(POLYKEM_CKKS_ERR_ARGUMENT, text);
}

polykem_ckks_shape shape_of(const CkksCiphertexts& ciphertexts) {
  polykem_ckks_shape shape{};
  shape.struct_size = sizeof shape;
  check_ckks(polykem_ckks_ciphertexts_shape(ciphertexts.get(), &shape));
  return shape;
}

void bind_ckks(nb::module_& m) {
  bind_context(m);
  bind_batches(m);
  bind_keys(m);
  bind_devices(m);
  bind_arithmetic(m);
}

}  // namespace polykem::python
