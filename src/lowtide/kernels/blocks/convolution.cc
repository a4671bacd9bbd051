// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/blocks/convolution.h"

#include <array>
#include <utility>
#include <vector>

#include "lowtide/base/quote.h"
#include "lowtide/graph/lowered.h"
#include "lowtide/kernels/blocks/tile_runner.h"
#include "lowtide/kernels/blocks/winograd.h"
#include "lowtide/kernels/common/plain_kernel.h"
#include "lowtide/kernels/common/seconds_of.h"
#include "lowtide/kernels/common/team_parts.h"

namespace lowtide::kernels_internal {
namespace {

// Divides `count` units of work evenly among threads, and calls run(units, thread) for each.
template <typename Run>
RunStatus run_divided(Team& team, int threads, std::int64_t count, const Run& run) {
  const RunCode code = run_shares(team, threads, [&](int share) {
    return run(Interval<std::int64_t>{count * share / threads, count * (share + 1) / threads}, share);
  });
  return {code, 0};
}

RunStatus run_convolution(const ConvolutionParameters& parameters, const Operands& operands, Team& team) {
  const std::int64_t scratch = parameters.shape.scratch_per_thread().count();
  return run_divided(team, parameters.threads, parameters.shape.tiles(), [&](Interval<std::int64_t> tiles, int share) {
    return run_tiles(parameters, operands, operands.scratch + share * scratch, tiles);
  });
}

RunStatus run_winograd(const WinogradConvolution& convolution, const Operands& operands, Team& team) {
  const std::int64_t scratch = convolution.scratch_per_thread().count();
  return run_divided(team, convolution.threads, convolution.units(), [&](Interval<std::int64_t> units, int share) {
    return run_units(convolution, operands, operands.scratch + share * scratch, units);
  });
}

// How many threads have enough to do.
int threads_for(const BlockConvolution& shape, int threads) {
  const double places = static_cast<double>(shape.down.result) * static_cast<double>(shape.across.result);
  const double products = static_cast<double>(shape.weights_of_block()) * static_cast<double>(shape.result_blocks) *
                          static_cast<double>(shape.groups * shape.images) * places;
  return threads_with_work(threads, shape.tiles(), products / kProductsPerOperation);
}

constexpr std::array kBlockConvolutionTypes{DType::f32};
constexpr std::array kBlockConvolutions{SupportedOperator{kOwnDomain, kConvType, kBlockConvolutionTypes}};

// The parameters of a node, or the reason why there are none.
std::optional<ConvolutionParameters> parameters_of(const Graph& graph, NodeId id, int threads, const CacheSizes& caches,
                                                   std::string& missing) {
  const std::optional<ConvolutionShape> shape = lowered_convolution_shape(graph, id, missing);
  if (!shape) return std::nullopt;
  const Node& node = graph.node(id);
  const auto* name = find_attribute<std::string>(node.attributes, kOrderAttribute);
  const std::optional<WeightsOrder> order = weights_order(name == nullptr ? "" : *name);
  missing = "its weights are not in an order of kernels in blocks";
  if (!order) return std::nullopt;
  const std::optional<BlockConvolution> made = block_convolution(*shape, caches);
  missing = "the machine has no vector instructions for it";
  if (!made) return std::nullopt;
  missing = "its weights are in the order " + quoted(*name) + ", and the kernel reads " +
            quoted(to_string({made->kind, made->lanes}));
  if (order->kind != made->kind || order->lanes != made->lanes) return std::nullopt;
  const std::optional<std::int64_t> elements = packed_elements(*order, Shape(shape->weights), shape->group);
  if (!elements || graph.tensor(*node.inputs[1]).shape != Shape({*elements})) return std::nullopt;
  ConvolutionParameters parameters{
      .shape = *made, .has_winograd = shape->has_winograd, .epilogue = {}, .threads = threads_for(*made, threads)};
  missing = "an epilogue in blocks has f32 alone";
  if (has_epilogue(node)) {
    const Result<Graph> program = epilogue_program(graph, id);
    if (program) parameters.epilogue = block_epilogue(*program);
    if (!parameters.epilogue) return std::nullopt;
  }
  missing.clear();
  return parameters;
}

constexpr std::string_view kSquares = "blocks.winograd";
constexpr std::string_view kFewSquares = "blocks.winograd_narrow";  // the same bits with less scratch
constexpr double kTimeOfFewSquares = 1.5;                           // in times of the other kernel's

// Does what parameters_of() does, for a node whose algorithm is Winograd's.
std::optional<WinogradConvolution> squares_of_node(const ConvolutionParameters& parameters, int threads,
                                                   const CacheSizes& caches, bool is_narrow, std::string& missing) {
  missing = "Winograd's algorithm has no kernel for its window, or would save nothing";
  std::optional<WinogradConvolution> made = winograd_convolution(parameters.shape);
  if (!made) return std::nullopt;
  made->epilogue = parameters.epilogue;
  set_groups(*made, threads_for(parameters.shape, threads), caches, is_narrow);
  missing.clear();
  return made;
}

// Appends what a kernel of a convolution may overwrite.
void allow_in_place(const OfferInput& input, const ConvolutionParameters& parameters, Kernel& kernel) {
  for (std::size_t at = 0; parameters.epilogue && at < parameters.epilogue->operands.size(); ++at) {
    if (parameters.epilogue->operands[at] != BlockEpilogue::Reach::whole) continue;
    // Other tiles still read the source.
    const Node& node = input.graph.node(input.node);
    if (node.inputs[kProductOperands + at] == node.inputs[0]) continue;
    kernel.in_place.emplace_back(static_cast<int>(kProductOperands + at), 0);
  }
}

Offer offer_winograd(const OfferInput& input, const ConvolutionParameters& parameters) {
  Offer offer;
  for (const bool is_narrow : {false, true}) {
    const std::optional<WinogradConvolution> made =
        squares_of_node(parameters, input.threads, input.caches, is_narrow, offer.missing);
    if (!made) return offer;
    Kernel kernel{.name = std::string(is_narrow ? kFewSquares : kSquares),
                  .scratch = made->scratch_per_thread() * made->threads};
    if (is_narrow) kernel.cost_seconds = kTimeOfFewSquares * seconds_of(input.graph, input.node);
    allow_in_place(input, parameters, kernel);
    offer.kernels.push_back(std::move(kernel));
  }
  return offer;
}

Offer offer_block_convolution(const OfferInput& input) {
  std::string missing;
  const std::optional<ConvolutionParameters> parameters =
      parameters_of(input.graph, input.node, input.threads, input.caches, missing);
  if (!parameters) return {{}, std::move(missing)};
  if (parameters->has_winograd) return offer_winograd(input, *parameters);
  Kernel kernel{.name = "blocks.conv", .scratch = parameters->shape.scratch_per_thread() * parameters->threads};
  allow_in_place(input, *parameters, kernel);
  return {{std::move(kernel)}, ""};
}

Result<std::unique_ptr<PreparedKernel>> prepare_block_convolution(const PrepareInput& input) {
  std::string missing;
  std::optional<ConvolutionParameters> parameters =
      parameters_of(input.graph, input.node, input.threads, input.caches, missing);
  if (!parameters) return Error{ErrorCode::unsupported, std::move(missing), ""};
  if (parameters->has_winograd) {
    std::optional<WinogradConvolution> made =
        squares_of_node(*parameters, input.threads, input.caches, input.kernel == kFewSquares, missing);
    if (!made) return Error{ErrorCode::unsupported, std::move(missing), ""};
    set_functions(*made);
    return plain_kernel(input, &run_winograd, *std::move(made));
  }
  set_functions(*parameters);
  return plain_kernel(input, &run_convolution, *std::move(parameters));
}

}  // namespace

Family block_convolution_family() {
  return {.name = "convolutions in blocks",
          .operators = kBlockConvolutions,
          .offer = &offer_block_convolution,
          .prepare = &prepare_block_convolution};
}

std::optional<FormatOption> block_option(const Graph& graph, NodeId node, Format format) {
  std::string missing;
  std::optional<ConvolutionShape> shape = standard_convolution_shape(graph, node, missing);
  if (!shape) return std::nullopt;
  shape->output = format;
  const bool is_thin = shape->source[1] < block_of(format);
  shape->input = is_thin && shape->group == 1 ? Format::plain : format;
  const std::optional<BlockConvolution> made = block_convolution(*shape);
  if (!made) return std::nullopt;
  const WeightsOrder order{made->kind, made->lanes};
  const std::optional<std::int64_t> elements = packed_elements(order, Shape(shape->weights), shape->group);
  if (!elements) return std::nullopt;
  return FormatOption{shape->input, format, seconds_of(graph, node),
                      PackedConstant{DType::f32, Shape({*elements}), to_string(order)}};
}

bool has_block_kernel(const Graph& graph, NodeId node) {
  std::string missing;
  return parameters_of(graph, node, 1, {}, missing).has_value();
}

bool has_winograd_kernel(const Graph& graph, NodeId node) {
  std::string missing;
  const std::optional<ConvolutionParameters> parameters = parameters_of(graph, node, 1, {}, missing);
  return parameters && winograd_convolution(parameters->shape).has_value();
}

bool can_follow_in_blocks(const EpilogueParts& epilogue) { return block_epilogue(epilogue.program).has_value(); }

}  // namespace lowtide::kernels_internal
