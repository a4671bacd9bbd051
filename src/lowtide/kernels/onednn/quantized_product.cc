// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/onednn/quantized_product.h"

#include <algorithm>
#include <utility>

#include "lowtide/graph/lowered.h"
#include "lowtide/kernels/common/attributes.h"
#include "lowtide/kernels/common/byte_rows.h"
#include "lowtide/kernels/common/matmul_shapes.h"
#include "lowtide/kernels/common/team_parts.h"
#include "lowtide/kernels/common/tuning.h"
#include "lowtide/kernels/onednn/facts.h"

namespace lowtide::kernels_internal {
namespace {

constexpr std::string_view kNotTiled = "its operands are not those of a product of known matrices of 8 bits";

// So that no sum or product of sizes overflows.
constexpr std::int64_t kMostProductExtent = std::int64_t{1} << 30;
constexpr std::int64_t kMostMatrices = std::int64_t{1} << 16;

// Whether an operand of parameters has one element, or with `columns` one per column.
bool has_count(const Graph& graph, const std::optional<TensorId>& id, std::optional<std::int64_t> columns) {
  const Result<std::int64_t> count = element_count(graph.tensor(*id).shape);
  return count && (*count == 1 || count.value() == columns);
}

// Whether the operands have the types and the numbers of parameters of the operator.
bool has_quantized_operands(const Graph& graph, NodeId id, std::int64_t columns) {
  const Node& node = graph.node(id);
  const std::size_t most = graph.op(id).domain == kOwnDomain ? 9 : 8;
  if (node.inputs.size() < 8 || node.inputs.size() > most) return false;
  for (std::size_t at = 0; at < node.inputs.size(); ++at) {
    if (!node.inputs[at]) {
      if (at == 8) continue;
      return false;
    }
    const Tensor& tensor = graph.tensor(*node.inputs[at]);
    const bool is_float = at == 1 || at == 4 || at == 6 || at == 8;
    if (tensor.shape.has_upper_bounds()) return false;
    if (is_float ? tensor.dtype != DType::f32 : !is_byte(tensor.dtype)) return false;
    if (at == 0 || at == 3) continue;
    const bool is_of_columns = at == 4 || at == 5 || at == 8;
    if (!has_count(graph, node.inputs[at], is_of_columns ? std::optional(columns) : std::nullopt)) return false;
  }
  const Tensor& result = graph.tensor(*node.outputs[0]);
  return is_byte(result.dtype) && !result.shape.has_upper_bounds();
}

Bytes whole_lines(std::int64_t bytes) { return Bytes((bytes + 63) / 64 * 64); }

std::int64_t rounded_up(std::int64_t value, std::int64_t to) { return (value + to - 1) / to * to; }

// Parts of at most `most` elements, as even as multiples of `unit` allow: all but the last one, and the last one.
std::array<std::int64_t, 2> even_parts(std::int64_t count, std::int64_t most, std::int64_t unit) {
  const std::int64_t parts = (count + most - 1) / most;
  const std::int64_t each = std::min(count, rounded_up((count + parts - 1) / parts, unit));
  const std::int64_t last = count % each;
  return {each, last == 0 ? each : last};
}

// Matrices that follow one another and are multiplied by the same one are one matrix of all of their rows.
void merge_rows(QuantizedProduct& made) {
  const auto matrices = static_cast<std::int64_t>(made.matrices.size());
  if (made.rows > kMostProductExtent / matrices) return;
  for (std::int64_t at = 0; at < matrices; ++at) {
    const QuantizedProduct::Matrices& one = made.matrices[static_cast<std::size_t>(at)];
    if (one.left != at || one.right != 0) return;
  }
  made.rows *= matrices;
  made.matrices.resize(1);
}

}  // namespace

std::optional<QuantizedProduct> quantized_product(const Graph& graph, NodeId id, std::string& missing) {
  const Node& node = graph.node(id);
  missing = kNotTiled;
  if (node.inputs.size() < 8 || !node.inputs[0] || !node.inputs[3] || node.outputs.size() != 1 || !node.outputs[0]) {
    return std::nullopt;
  }
  const Shape& left = graph.tensor(*node.inputs[0]).shape;
  const Shape& right = graph.tensor(*node.inputs[3]).shape;
  const Shape& result = graph.tensor(*node.outputs[0]).shape;
  const bool is_transposed = integer_attribute(node, kTransposeAttribute, 0) != 0;
  if (left.rank() < 2 || right.rank() < 2 || (is_transposed && right.rank() != 2)) return std::nullopt;
  std::vector<std::int64_t> matrix = right.extents();
  if (is_transposed) std::swap(matrix[0], matrix[1]);
  const std::optional<MatMulShapes> shapes = matmul_shapes(left.extents(), matrix);
  if (!shapes || !std::ranges::equal(shapes->result.values(), result.extents())) return std::nullopt;
  QuantizedProduct made{.rows = left[left.rank() - 2],
                        .inner = left[left.rank() - 1],
                        .columns = matrix.back(),
                        .is_left_signed = graph.tensor(*node.inputs[0]).dtype == DType::i8,
                        .is_right_signed = graph.tensor(*node.inputs[3]).dtype == DType::i8,
                        .is_transposed = is_transposed};
  const int batch = result.rank() - 2;
  const std::int64_t matrices = shapes->result.product(0, batch);
  for (const std::int64_t extent : {made.rows, made.inner, made.columns}) {
    if (extent < 1 || extent > kMostProductExtent) return std::nullopt;
  }
  if (matrices < 1 || matrices > kMostMatrices || !has_quantized_operands(graph, id, made.columns)) return std::nullopt;
  for (std::int64_t number = 0; number < matrices; ++number) {
    made.matrices.push_back(
        {matrix_of(shapes->a, shapes->result, batch, number), matrix_of(shapes->b, shapes->result, batch, number)});
  }
  merge_rows(made);
  missing.clear();
  return made;
}

IntegerProduct QuantizedTiles::product_of(const QuantizedProduct& of, std::size_t row_kind,
                                          std::size_t column_kind) const {
  IntegerProduct product{
      .rows = rows[row_kind], .inner = of.inner, .columns = columns[column_kind], .is_left_signed = of.is_left_signed};
  if (of.copies_right()) return product;
  product.right_row_step = 1;
  product.right_column_step = of.inner;
  return product;
}

std::optional<QuantizedTiles> quantized_tiles(const QuantizedProduct& of, int threads, const CacheSizes& caches) {
  constexpr std::int64_t kMostRows = 256;
  constexpr std::int64_t kColumns = 64;  // a multiple of those that oneDNN computes at once
  QuantizedTiles tiles;
  tiles.rows = even_parts(of.rows, kMostRows, 16);
  std::int64_t most =
      std::max(kQuantizedTile.bytes(caches) / (of.inner + 4 * tiles.rows[0]) / kColumns, std::int64_t{1}) * kColumns;
  const auto matrices = static_cast<std::int64_t>(of.matrices.size());
  const double products = static_cast<double>(of.rows) * static_cast<double>(of.inner) *
                          static_cast<double>(of.columns) * static_cast<double>(matrices);
  const int sharing = threads_with_work(threads, kMostProductExtent, products, kLeastSharedProducts);
  const std::int64_t parts = (sharing + matrices - 1) / matrices;  // of each matrix, so that all threads have one
  if (parts > 1) most = std::min(most, rounded_up((of.columns + parts - 1) / parts, kColumns));
  tiles.columns = even_parts(of.columns, most, kColumns);
  tiles.row_tiles = (of.rows + tiles.rows[0] - 1) / tiles.rows[0];
  tiles.column_tiles = (of.columns + tiles.columns[0] - 1) / tiles.columns[0];
  tiles.threads = static_cast<int>(std::min<std::int64_t>(sharing, matrices * tiles.column_tiles));
  tiles.sums = of.copies_right() ? whole_lines(of.inner * tiles.columns[0]) : Bytes();
  tiles.of_rows = tiles.sums + whole_lines(4 * tiles.rows[0] * tiles.columns[0]);
  tiles.of_columns = tiles.of_rows + whole_lines(4 * tiles.rows[0]);
  tiles.library = tiles.of_columns + whole_lines(4 * tiles.columns[0]) * 4;
  Bytes of_library;
  for (std::size_t row_kind = 0; row_kind < QuantizedTiles::kKinds; ++row_kind) {
    for (std::size_t column_kind = 0; column_kind < QuantizedTiles::kKinds; ++column_kind) {
      const std::optional<PrimitiveFacts> facts = facts_of(tiles.product_of(of, row_kind, column_kind));
      if (!facts) return std::nullopt;
      of_library = std::max(of_library, facts->scratch);
    }
  }
  tiles.per_thread = tiles.library + whole_lines(of_library.count());
  return tiles;
}

}  // namespace lowtide::kernels_internal
