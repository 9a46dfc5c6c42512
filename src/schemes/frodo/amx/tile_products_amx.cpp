// SPDX-License-Identifier: Apache-2.0
#include "schemes/frodo/tile_products.hpp"

#include "schemes/frodo/amx/mul_a_s.hpp"
#include "schemes/frodo/amx/mul_s_a.hpp"
#include "schemes/frodo/amx/mul_s_a_shared_key.hpp"

namespace polykem::frodo {

namespace {

namespace tiles = matmul::tiles;
using amx::LeftSpace;
using amx::RightSpace;
using amx::SharedKeySpace;
using lanes::Grid;
using lanes::GridTables;

size_t workspace_bytes(size_t n, size_t count) {
  const size_t one = std::max(LeftSpace::bytes(n), RightSpace::bytes(n));
  return GridTables::bytes(n) + (count > 1 ? std::max(one, SharedKeySpace::bytes(n, count)) : one);
}

/// The A of a seed, with its tables in the workspace.
struct SeededGrid {
  lanes::RoundKeys128 keys;
  GridTables tables;
  SeededGrid(const uint8_t* seed_a, Arena& arena, size_t n) : keys(seed_a), tables(arena, n) { tables.fill(keys, n); }
};

void mul_a_s(Matrix16 b, const uint8_t* seed_a, ConstMatrix16 s_transposed, size_t n, std::byte* workspace) {
  Arena arena(workspace);
  const SeededGrid a(seed_a, arena, n);
  amx::mul_a_s(b, Grid(a.tables, a.keys), s_transposed, n, RightSpace(arena, n));
}

void mul_s_a(Matrix16 b, ConstMatrix16 s, const uint8_t* seed_a, size_t n, size_t count, size_t step,
             std::byte* workspace) {
  Arena arena(workspace);
  const SeededGrid seeded(seed_a, arena, n);
  const Grid a(seeded.tables, seeded.keys);
  if (count == 1) return amx::mul_s_a(b, s, a, n, LeftSpace(arena, n));
  const SharedKeySpace space(arena, n, count);
  amx::narrow_left(space.s, s, n, count, step);
  const tiles::TileScope scope;
  amx::mul_s_a_shared_key(b, amx::GeneratedPanels(a, space.panels, n, amx::turns_of_panel(n, count)), n, count, step,
                          space);
}

size_t packed_bytes(size_t n) {
  return amx::steps_of_columns(n) * SharedKeySpace::panel_bytes(n);
}

void pack(std::byte* packed, ConstMatrix16 rows, size_t first, size_t count, size_t n) {
  amx::pack_rows(reinterpret_cast<uint8_t*>(packed), rows, first, count, n);
}

void mul_s_a_packed(Matrix16 b, ConstMatrix16 s, const std::byte* packed, size_t n, size_t count, size_t step,
                    std::byte* workspace) {
  Arena arena(workspace);
  const SharedKeySpace space(arena, n, count);
  amx::narrow_left(space.s, s, n, count, step);
  const tiles::TileScope scope;
  amx::mul_s_a_shared_key(b, amx::PackedPanels(packed, n), n, count, step, space);
}

}  // namespace

const TileProductFunctions kTileProductsAmx = {workspace_bytes, mul_a_s, mul_s_a, packed_bytes, pack, mul_s_a_packed};

}  // namespace polykem::frodo
