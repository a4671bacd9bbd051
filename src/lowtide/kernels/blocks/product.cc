// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/blocks/product.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/graph/lowered.h"
#include "lowtide/kernels/blocks/block_convolution.h"
#include "lowtide/kernels/blocks/product_runner.h"
#include "lowtide/kernels/common/attributes.h"
#include "lowtide/kernels/common/seconds_of.h"

namespace lowtide::kernels_internal {
namespace {

bool is_known_float(const Tensor& tensor) { return tensor.dtype == DType::f32 && !tensor.shape.has_upper_bounds(); }

// Whether all operands and results are f32 with known extents. The first operand and the result must be present.
bool has_product_floats(const Graph& graph, const Node& node) {
  if (node.inputs.size() < 2 || !node.inputs[0] || !node.inputs[1] || node.outputs.size() != 1 || !node.outputs[0]) {
    return false;
  }
  for (const std::optional<TensorId>& input : node.inputs) {
    if (input && !is_known_float(graph.tensor(*input))) return false;
  }
  return is_known_float(graph.tensor(*node.outputs[0]));
}

// The rows of the first operand. nullopt: it, the bias or the result has other extents than the product.
std::optional<std::int64_t> rows_of(const Graph& graph, const Node& node, const BlockMatrix& matrix) {
  const Shape& source = graph.tensor(*node.inputs[0]).shape;
  std::vector<std::int64_t> result = source.extents();
  if (result.empty() || result.back() != matrix.inner) return std::nullopt;
  result.back() = matrix.columns;
  if (graph.tensor(*node.outputs[0]).shape != Shape(result)) return std::nullopt;
  std::int64_t rows = 1;
  for (int axis = 0; axis + 1 < source.rank(); ++axis) rows *= source[axis];
  if (node.inputs.size() > 2 && node.inputs[2]) {
    const Shape& bias = graph.tensor(*node.inputs[2]).shape;
    const bool is_row = bias == Shape({matrix.columns}) || bias == Shape({1, matrix.columns});
    if (!is_row) return std::nullopt;
  }
  return rows > 0 ? std::optional(rows) : std::nullopt;
}

constexpr std::array kBlockProductTypes{DType::f32};
constexpr std::array kBlockProducts{SupportedOperator{kOwnDomain, kPackedMatMulType, kBlockProductTypes}};

constexpr std::string_view kTiledProduct = "blocks.matmul";
constexpr std::string_view kProductByRow = "blocks.matmul_by_row";  // without scratch
// Four sums at a time cannot hide that each waits for the one before it: a processor finishes about eight in that time.
constexpr double kTimeByRow = 2;

// The parameters of a node without a division of the work, or the reason why there are none.
std::optional<BlockProduct> block_product(const Graph& graph, NodeId id, std::string& missing) {
  const Node& node = graph.node(id);
  missing = "it multiplies matrices of f32 with known extents";
  if (!has_product_floats(graph, node)) return std::nullopt;
  missing = "its attributes do not describe the order of its packed matrix";
  const auto* weights = integers_attribute(node, kWeightsAttribute);
  if (weights == nullptr) return std::nullopt;
  const std::optional<BlockMatrix> matrix = packed_matrix(node, Shape(*weights), graph.tensor(*node.inputs[1]).shape);
  if (!matrix) return std::nullopt;
  missing = "its operands and its result do not fit the matrix";
  const std::optional<std::int64_t> rows = rows_of(graph, node, *matrix);
  if (!rows) return std::nullopt;
  missing = "the machine has no vector instructions for it";
  if (!has_tiles(matrix->lanes)) return std::nullopt;
  BlockProduct product{.matrix = *matrix, .rows = *rows, .has_bias = node.inputs.size() > 2 && node.inputs[2]};
  if (has_epilogue(node)) {
    missing = "an epilogue of a packed product has f32 alone, with operands of one element, one row, or all rows";
    const Result<Graph> program = epilogue_program(graph, id);
    if (program) product.epilogue = row_epilogue(*program);
    if (!product.epilogue) return std::nullopt;
  }
  missing.clear();
  return product;
}

Offer offer_block_product(const OfferInput& input) {
  std::string missing;
  std::optional<BlockProduct> product = block_product(input.graph, input.node, missing);
  if (!product) return {{}, std::move(missing)};
  set_division(*product, input.threads, input.caches);
  Offer offer{{Kernel{.name = std::string(kTiledProduct), .scratch = product->scratch()}}, ""};
  if (!product->is_direct() && product->has_full_blocks()) {
    const double seconds = seconds_of(input.graph, input.node);
    offer.kernels.push_back(Kernel{.name = std::string(kProductByRow), .cost_seconds = kTimeByRow * seconds});
  }
  return offer;
}

// While a matrix is packed, it is in memory twice. With a larger one, that would be most of what a load needs, as for
// the 392 MiB of vgg16.
constexpr Bytes kMostPacked(std::int64_t{32} << 20);

RunStatus run(const BlockProduct& product, const Operands& operands, Team& team) {
  return {run_product(product, operands, team), 0};
}

Result<std::unique_ptr<PreparedKernel>> prepare_block_product(const PrepareInput& input) {
  std::string missing;
  std::optional<BlockProduct> product = block_product(input.graph, input.node, missing);
  if (!product) return Error{ErrorCode::unsupported, std::move(missing), ""};
  set_division(*product, input.threads, input.caches, input.kernel == kProductByRow);
  return plain_kernel(input, &run, *std::move(product));
}

}  // namespace

Family block_product_family() {
  return {.name = "matrix products in blocks",
          .operators = kBlockProducts,
          .offer = &offer_block_product,
          .prepare = &prepare_block_product};
}

std::optional<FormatOption> product_option(const Graph& graph, NodeId id, Format format) {
  const Node& node = graph.node(id);
  const int lanes = static_cast<int>(block_of(format));
  if (!has_tiles(lanes) || !has_product_floats(graph, node) || node.inputs.size() > 3) return std::nullopt;
  const bool is_general = graph.op(id).type == kGemmType;
  const bool has_scale = number_attribute(node, "alpha", 1) != 1 || number_attribute(node, "beta", 1) != 1;
  if (is_general && (has_scale || integer_attribute(node, "transA", 0) != 0)) return std::nullopt;
  const bool is_transposed = is_general && integer_attribute(node, kTransposeAttribute, 0) != 0;
  const std::optional<BlockMatrix> matrix = block_matrix(lanes, graph.tensor(*node.inputs[1]).shape, is_transposed);
  if (!matrix || !rows_of(graph, node, *matrix)) return std::nullopt;
  if (graph.tensor(*node.inputs[1]).size > kMostPacked) return std::nullopt;
  return FormatOption{Format::plain, Format::plain, seconds_of(graph, id),
                      PackedConstant{DType::f32, Shape({matrix->elements()}), to_string({TileKind::blocks, lanes})}};
}

bool can_follow_product(const EpilogueParts& epilogue) { return row_epilogue(epilogue.program).has_value(); }

}  // namespace lowtide::kernels_internal
