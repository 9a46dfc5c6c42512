// SPDX-License-Identifier: Apache-2.0
// polykem._core: a thin binding of the C API. Parameter sets are given by their index, and calls return the C API's
// status as a number. The package's Python code adds names and exceptions.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "batch.hpp"
#include "ckks_submodules.hpp"
#include "hpke_binding.hpp"

namespace polykem::python {
namespace {

using namespace nb::literals;

using FieldsByName = nb::typed<nb::dict, nb::str, nb::any>;

FieldsByName scheme_fields(std::size_t index) {
  const polykem_scheme_info_t info = info_of(scheme_at(index));
  FieldsByName fields;
  fields["name"] = info.name;
  fields["family"] = info.family;
  fields["title"] = info.title;
  nb::list aliases;
  for (std::size_t i = 0; i < info.alias_count; ++i)
    aliases.append(info.aliases[i]);
  fields["aliases"] = nb::tuple(aliases);
  fields["security_category"] = info.security_category;
  fields["public_key_bytes"] = info.public_key_bytes;
  fields["secret_key_bytes"] = info.secret_key_bytes;
  fields["ciphertext_bytes"] = info.ciphertext_bytes;
  fields["shared_secret_bytes"] = info.shared_secret_bytes;
  fields["keygen_coin_bytes"] = info.keygen_coin_bytes;
  fields["encaps_coin_bytes"] = info.encaps_coin_bytes;
  fields["secret_seed_bytes"] = info.secret_seed_bytes;
  fields["public_key_at"] = info.public_key_at == SIZE_MAX ? nb::object(nb::none()) : nb::int_(info.public_key_at);
  fields["research"] = info.research != 0;
  fields["signature_bytes"] = info.signature_bytes;
  fields["sign_coin_bytes"] = info.sign_coin_bytes;
  return fields;
}

/// The index of the set with that name or alias; nothing if there is none.
template <auto kFind>
std::optional<std::size_t> find_set(const char* name) {
  const polykem_scheme* found = nullptr;
  if (unless_no_memory(kFind(name, &found)) != POLYKEM_OK) return std::nullopt;
  std::size_t index = 0;
  while (scheme_at(index) != found)
    ++index;
  return index;
}

FieldsByName backend_fields(std::size_t index) {
  polykem_backend_info_t info{};
  info.struct_size = sizeof info;
  if (unless_no_memory(polykem_backend_info(index, &info)) != POLYKEM_OK)
    throw nb::index_error("no backend of that index");
  FieldsByName fields;
  fields["name"] = info.name;
  fields["description"] = info.description;
  fields["requirements"] = info.requirements;
  fields["available"] = info.available != 0;
  return fields;
}

std::pair<std::size_t, bool> crossover(std::size_t scheme, int op) {
  std::size_t items = 0;
  int measured = 0;
  polykem_crossover(scheme_at(scheme), static_cast<polykem_op>(op), &items, &measured);
  return {items, measured != 0};
}

int tune(std::size_t scheme) {
  const polykem_scheme* set = scheme_at(scheme);
  const WithoutGil no_gil;
  return polykem_tune(set);
}

void bind_library(nb::module_& m) {
  m.def("version", &polykem_version);
  m.def(
      "status_text", [](int status) { return polykem_status_text(static_cast<polykem_status>(status)); }, "status"_a);
  m.def("scheme_count", &polykem_scheme_count);
  m.def("scheme_fields", &scheme_fields, "index"_a);
  m.def("set_count", &set_count);
  m.def("find_scheme", &find_set<polykem_scheme_find>, "name"_a);
  m.def("find_signature", &find_set<polykem_signature_find>, "name"_a);
  m.def("suggest_scheme", &polykem_scheme_suggest, "name"_a);
  m.def("suggest_signature", &polykem_signature_suggest, "name"_a);
  m.def("backend_count", &polykem_backend_count);
  m.def("backend_fields", &backend_fields, "index"_a);
  m.def("cpu_features", &polykem_cpu_features);
  m.def("crossover", &crossover, "scheme"_a, "op"_a);
  m.def("crossover_note", &polykem_crossover_note);
  m.def("tune", &tune, "scheme"_a);
}

void bind_memory(nb::module_& m) {
  m.def("zeroize_stack", &polykem_zeroize_stack, "Clears this thread's vector registers and stack.");
  nb::class_<DeviceBytes>(m, "DeviceBytes").def(nb::init<std::uintptr_t, std::size_t>(), "address"_a, "bytes"_a);
  nb::class_<SecretMemory>(m, "SecretMemory", nb::type_slots(SecretMemory::slots))
      .def(nb::init<const NumberList&, const SecretMemory*, std::size_t>(), "shape"_a, "base"_a.none() = nb::none(),
           "offset"_a = 0)
      .def_prop_ro("extents", &SecretMemory::shape, "The shape as a list.")
      .def_prop_ro("nbytes", &SecretMemory::bytes, "Size in bytes.")
      .def_prop_ro("wiped", &SecretMemory::wiped, "True after wipe() of all of its bytes, through it or another view.")
      .def_prop_ro("partly_wiped", &SecretMemory::partly_wiped,
                   "True after wipe() of any of its bytes: what reads it raises ArgumentError.")
      .def("wipe", &SecretMemory::wipe,
           "Overwrite the bytes with zeros now. Arrays that were made of it read zeros from then on; it and its views "
           "are refused wherever they are read.");
}

void bind_request(nb::module_& m) {
  nb::class_<Request>(m, "Request")
      .def(nb::init<int, std::size_t, std::size_t, const ArraysByName&, int, int, nb::handle, const KeySet*, nb::handle,
                    nb::handle>(),
           "op"_a, "scheme"_a, "count"_a, "arrays"_a, "key_mode"_a = 0, "secret_form"_a = 0,
           "item_status"_a = nb::none(), "keyset"_a.none() = nb::none(), "key_index"_a = nb::none(),
           "messages"_a = nb::none());
}

void bind_context(nb::module_& m) {
  nb::class_<Completions>(m, "Completions")
      .def(nb::init<>())
      .def("wait", &Completions::wait, "seconds"_a)
      .def("drop", &Completions::drop);
  nb::class_<Context>(m, "Context")
      .def(nb::init<unsigned, std::optional<const char*>>(), "threads"_a, "backend"_a.none())
      .def_prop_ro("status", &Context::status)
      .def_prop_ro("threads", &Context::threads)
      .def("backend", &Context::backend, "scheme"_a)
      .def("close", &Context::close)
      .def("run", &Context::run, "request"_a)
      .def("submit", &Context::submit, "request"_a, "completions"_a, "number"_a)
      .def("queue_bytes", &Context::queue_bytes, "op"_a, "scheme"_a, "count"_a)
      .def("queue", &Context::queue, "request"_a, "workspace"_a, "stream"_a)
      .def("profile", &Context::profile, "enable"_a)
      .def("profile_records",
           [](const Context& context) {
             nb::typed<nb::list, nb::typed<nb::tuple, nb::any, nb::ellipsis>> out;
             for (const StepRecord& r : context.profile_records())
               out.append(nb::make_tuple(r.op, r.step, r.stages, r.calls, r.items, r.nanoseconds, r.cycles));
             return out;
           })
      .def("plan", &Context::plan, "scheme"_a, "op"_a);
  nb::class_<KeySet>(m, "KeySet")
      .def(nb::init<const Context&, std::size_t, int, std::size_t, nb::handle>(), "context"_a, "scheme"_a, "kind"_a,
           "count"_a, "keys"_a)
      .def_static("generate", &KeySet::generate, "context"_a, "scheme"_a, "count"_a, "pk_out"_a)
      .def_prop_ro("status", &KeySet::status)
      .def_prop_ro("size", &KeySet::size)
      .def_prop_ro("closed", [](const KeySet& keyset) { return keyset.handle() == nullptr; })
      .def("close", &KeySet::close);
}

}  // namespace
}  // namespace polykem::python

NB_MODULE(_core, m) {
  using namespace polykem::python;
  // Objects that a daemon thread uses when the interpreter ends stay alive on purpose.
  nb::set_leak_warnings(false);
  m.doc() = "The C API of polykem; use the package polykem.";
  bind_library(m);
  bind_memory(m);
  bind_context(m);
  bind_request(m);
#ifdef POLYKEM_PYTHON_CKKS
  bind_ckks(m);
#endif
#ifdef POLYKEM_PYTHON_OPENFHE
  bind_openfhe(m);
#endif
#ifdef POLYKEM_PYTHON_HPKE
  bind_hpke(m);
#endif
}
