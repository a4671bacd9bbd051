// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <utility>

#include "lowtide/base/quote.h"
#include "lowtide/graph/epilogue.h"
#include "lowtide/graph/lowered.h"
#include "lowtide/kernels/common/fused_attention.h"
#include "lowtide/kernels/onednn/arguments.h"
#include "lowtide/kernels/onednn/dnnl.h"
#include "lowtide/kernels/onednn/epilogue.h"
#include "lowtide/kernels/onednn/facts.h"
#include "lowtide/kernels/onednn/gathered_convolution.h"
#include "lowtide/kernels/onednn/onednn.h"
#include "lowtide/kernels/onednn/onednn_kernel.h"
#include "lowtide/kernels/onednn/primitives.h"
#include "lowtide/kernels/onednn/quantized_product.h"
#include "lowtide/kernels/onednn/tiled_attention.h"

namespace lowtide::kernels_internal {
namespace {

constexpr std::array kFloats{DType::f32};
constexpr std::string_view kNoPrimitive = "oneDNN has no generated code for it on this machine";

using Prepared = Result<std::unique_ptr<PreparedKernel>>;

Offer offer_one(std::string_view name, Bytes scratch, const PostOps& after = {}) {
  Kernel kernel{.name = std::string(name), .scratch = scratch};
  if (const std::optional<std::size_t> operand = sum_operand(after))
    kernel.in_place = {{static_cast<int>(*operand), 0}};
  return {{std::move(kernel)}, ""};
}

// Sets the operations of a node's epilogue, if it has one. `operations` returns them for its program. Returns why there
// are none, or "".
template <typename Problem, typename Operations>
std::string add_epilogue(const Graph& graph, NodeId id, Problem& problem, Operations operations) {
  if (!has_epilogue(graph.node(id))) return "";
  const Result<Graph> program = epilogue_program(graph, id);
  if (!program) return program.error().message;
  std::optional<PostOps> after = operations(*program);
  if (!after) return "oneDNN does not compute its epilogue as precisely as a chain";
  Problem with_adds = problem;
  with_adds.after = *std::move(after);
  problem.after = with_sum(graph, id, with_adds.after, problem.result).value_or(with_adds.after);
  if (sum_operand(problem.after) && !is_as_light(problem, with_adds)) problem = std::move(with_adds);
  return "";
}

// The kernel of a problem with an epilogue.
template <typename Problem>
Prepared kernel_of(const Problem& problem, int threads) {
  Prepared kernel = onednn_kernel(primitives_of(problem, threads), arguments_of(problem));
  const std::optional<std::size_t> operand = sum_operand(problem.after);
  return kernel && operand ? Prepared(summing_kernel(*std::move(kernel), *operand)) : std::move(kernel);
}

NumberOf any_numbers_of(const Graph& graph, NodeId id) {
  std::vector<TensorId> operands;
  const std::vector<std::optional<TensorId>>& inputs = graph.node(id).inputs;
  for (std::size_t at = kProductOperands; at < inputs.size(); ++at) {
    if (!inputs[at]) break;
    operands.push_back(*inputs[at]);
  }
  return any_numbers(graph, std::move(operands));
}

// lowtide::Conv. Its weights must be in the order of the primitive.

constexpr std::array kConvolutions{SupportedOperator{kOwnDomain, kConvType, kFloats}};

std::optional<Convolution> convolution_of(const Graph& graph, NodeId id, const NumberOf& number, std::string& missing) {
  std::optional<Convolution> convolution = lowered_convolution(graph, id, missing);
  if (!convolution) return std::nullopt;
  missing = add_epilogue(graph, id, *convolution,
                         [&](const Graph& program) { return operations_after(*convolution, program, number); });
  return missing.empty() ? std::move(convolution) : std::nullopt;
}

Offer offer_convolution(const OfferInput& input) {
  const Node& node = input.graph.node(input.node);
  const auto* order = find_attribute<std::string>(node.attributes, kOrderAttribute);
  const std::string given = order == nullptr ? "" : *order;
  // The facts of a convolution take far longer than this.
  if (!is_order(given)) return {{}, "its weights are in the order " + quoted(given) + ", which oneDNN does not read"};
  std::string missing;
  const std::optional<Convolution> convolution =
      convolution_of(input.graph, input.node, any_numbers_of(input.graph, input.node), missing);
  if (!convolution) return {{}, std::move(missing)};
  const std::optional<PrimitiveFacts> facts = facts_of(*convolution, input.threads);
  if (!facts) return {{}, std::string(kNoPrimitive)};
  const Tensor& weights = input.graph.tensor(*node.inputs[1]);
  if (given != facts->weights->order || weights.shape != facts->weights->shape) {
    return {{},
            "its weights are " + to_string(weights.shape) + " in the order " + quoted(given) + ", and oneDNN reads " +
                to_string(facts->weights->shape) + " in the order " + quoted(facts->weights->order) + " here"};
  }
  return offer_one("onednn.conv", facts->scratch, convolution->after);
}

Prepared prepare_convolution(const PrepareInput& input) {
  std::string missing;
  const auto convolution = convolution_of(input.graph, input.node, known_numbers(input), missing);
  if (!convolution) return Error{ErrorCode::unsupported, std::move(missing), ""};
  return kernel_of(*convolution, input.threads);
}

// Gemm and MatMul.

constexpr std::array kProducts{SupportedOperator{"", kGemmType, kFloats}, SupportedOperator{"", kMatMulType, kFloats},
                               SupportedOperator{kOwnDomain, kGemmType, kFloats},
                               SupportedOperator{kOwnDomain, kMatMulType, kFloats}};

std::optional<Product> product_with(const Graph& graph, NodeId id, const NumberOf& number, std::string& missing) {
  std::optional<Product> product = product_of(graph, id, missing);
  if (!product) return std::nullopt;
  const Shape& result = graph.tensor(*graph.node(id).outputs[0]).shape;
  missing = add_epilogue(graph, id, *product,
                         [&](const Graph& program) { return operations_after(*product, result, program, number); });
  return missing.empty() ? std::move(product) : std::nullopt;
}

// oneDNN takes about a microsecond to begin. Other kernels compute so few products in a tenth of that.
bool is_tiny(const Product& product) {
  constexpr double kMostProducts = 512;
  double products = static_cast<double>(product.left.back());
  for (std::int64_t extent : product.result) products *= static_cast<double>(extent);
  return products <= kMostProducts;
}

// A row times a matrix whose columns are contiguous only reads the matrix. Plain loops read it as fast as memory gives
// it.
bool is_one_row_of_dots(const Product& product) {
  const auto is_one = [](std::int64_t extent) { return extent == 1; };
  return product.is_right_transposed && product.left.back() > 1 &&
         std::all_of(product.result.begin(), product.result.end() - 1, is_one);
}

Offer offer_product(const OfferInput& input) {
  std::string missing;
  const std::optional<Product> product =
      product_with(input.graph, input.node, any_numbers_of(input.graph, input.node), missing);
  if (!product) return {{}, std::move(missing)};
  if (is_one_row_of_dots(*product)) return {{}, "plain loops read the matrix of a single row faster"};
  if (is_tiny(*product)) return {{}, "oneDNN would begin this product as long as others compute it"};
  const std::optional<PrimitiveFacts> facts = facts_of(*product, input.threads);
  return facts ? offer_one("onednn.matmul", facts->scratch, product->after) : Offer{{}, std::string(kNoPrimitive)};
}

Prepared prepare_product(const PrepareInput& input) {
  std::string missing;
  const auto product = product_with(input.graph, input.node, known_numbers(input), missing);
  if (!product) return Error{ErrorCode::unsupported, std::move(missing), ""};
  return kernel_of(*product, input.threads);
}

// lowtide::Attention.

constexpr std::array kAttentions{SupportedOperator{kOwnDomain, kAttentionType, kFloats}};

Offer offer_tiled_attention(const OfferInput& input) {
  std::string missing;
  const std::optional<FusedAttention> attention = fused_attention(input.graph, input.graph.node(input.node), missing);
  if (!attention) return {{}, std::move(missing)};
  const std::optional<AttentionTiles> tiles = attention_tiles(*attention, input.caches);
  return tiles ? offer_one("onednn.attention", tiles->scratch * attention_threads(*attention, input.threads))
               : Offer{{}, std::string(kNoPrimitive)};
}

Prepared prepare_tiled_attention(const PrepareInput& input) {
  std::string missing;
  const FusedAttention attention = fused_attention(input.graph, input.graph.node(input.node), missing).value();
  return tiled_attention(attention, attention_tiles(attention, input.caches).value(),
                         attention_threads(attention, input.threads));
}

// QLinearConv of both domains.

constexpr std::array kEightBits{DType::i8, DType::u8};
constexpr std::array kGatheredConvolutions{SupportedOperator{"", "QLinearConv", kEightBits},
                                           SupportedOperator{kOwnDomain, kQuantizedConvType, kEightBits}};

bool has_signed_weights(const Graph& graph, NodeId node) {
  return graph.tensor(*graph.node(node).inputs[3]).dtype == DType::i8;
}

Offer offer_gathered(const OfferInput& input) {
  std::string missing;
  const auto convolution = gathered_convolution(input.graph, input.node, missing);
  if (!convolution) return {{}, std::move(missing)};
  const auto tiles =
      gathered_tiles(*convolution, has_signed_weights(input.graph, input.node), input.threads, input.caches);
  if (!tiles) return {{}, std::string(kNoPrimitive)};
  return offer_one("onednn.qconv", tiles->weight_sums + tiles->per_thread * tiles->threads);
}

Prepared prepare_gathered_kernel(const PrepareInput& input) {
  std::string missing;
  const GatheredConvolution convolution = gathered_convolution(input.graph, input.node, missing).value();
  const GatheredTiles tiles =
      gathered_tiles(convolution, has_signed_weights(input.graph, input.node), input.threads, input.caches).value();
  return prepare_gathered(convolution, tiles);
}

// QLinearMatMul of both domains.

constexpr std::array kQuantizedProducts{SupportedOperator{"", kQuantizedMatMulType, kEightBits},
                                        SupportedOperator{kOwnDomain, kQuantizedMatMulType, kEightBits}};

Offer offer_quantized_product(const OfferInput& input) {
  std::string missing;
  const auto product = quantized_product(input.graph, input.node, missing);
  if (!product) return {{}, std::move(missing)};
  const auto tiles = quantized_tiles(*product, input.threads, input.caches);
  if (!tiles) return {{}, std::string(kNoPrimitive)};
  return offer_one("onednn.qmatmul", tiles->per_thread * tiles->threads);
}

Prepared prepare_quantized_product_kernel(const PrepareInput& input) {
  std::string missing;
  const QuantizedProduct product = quantized_product(input.graph, input.node, missing).value();
  return prepare_quantized_product(product, quantized_tiles(product, input.threads, input.caches).value());
}

// lowtide::Pack.

constexpr std::array kReorderings{SupportedOperator{kOwnDomain, kPackType, kFloats}};

Offer offer_reordering(const OfferInput& input) {
  std::string missing;
  const std::optional<Reordering> reordering = reordering_of(input.graph, input.node, missing);
  if (!reordering) return {{}, std::move(missing)};
  const std::optional<PrimitiveFacts> facts = facts_of(*reordering, input.threads);
  return facts ? offer_one("onednn.reorder", facts->scratch) : Offer{{}, std::string(kNoPrimitive)};
}

Prepared prepare_reordering(const PrepareInput& input) {
  std::string missing;
  const Reordering reordering = reordering_of(input.graph, input.node, missing).value();
  return onednn_kernel(primitives_of(reordering, input.threads), arguments_of(reordering));
}

}  // namespace

std::span<const Family> onednn_families() {
  static constexpr std::array kFamilies{
      Family{"onednn convolutions", kConvolutions, &offer_convolution, &prepare_convolution, true},
      Family{"onednn products", kProducts, &offer_product, &prepare_product, true},
      Family{"onednn attentions", kAttentions, &offer_tiled_attention, &prepare_tiled_attention, true},
      Family{"onednn quantized convolutions", kGatheredConvolutions, &offer_gathered, &prepare_gathered_kernel, true},
      Family{"onednn quantized products", kQuantizedProducts, &offer_quantized_product,
             &prepare_quantized_product_kernel, true},
      Family{"onednn reorderings", kReorderings, &offer_reordering, &prepare_reordering, true},
  };
  return kFamilies;
}

bool has_onednn() { return find_dnnl() != nullptr; }

}  // namespace lowtide::kernels_internal
