// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/common/separate.h"

#include <algorithm>
#include <array>
#include <map>
#include <new>
#include <optional>
#include <utility>

#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"
#include "lowtide/graph/chain.h"
#include "lowtide/graph/epilogue.h"
#include "lowtide/graph/lowered.h"
#include "lowtide/kernels/common/bound_part.h"
#include "lowtide/target/formats.h"

namespace lowtide::kernels_internal {
namespace {

constexpr NodeId kProductNode(0);
constexpr NodeId kChainNode(1);

// A graph of two nodes, the product and its chain.
struct Separated {
  Graph graph;
  std::map<TensorId, TensorId> original;  // the tensors of the node
};

// The channels of a convolution whose result in blocks has padding.
std::optional<std::int64_t> padded_channels(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const auto* format = find_attribute<std::string>(node.attributes, kOutputFormatAttribute);
  const auto* weights = find_attribute<std::vector<std::int64_t>>(node.attributes, kWeightsAttribute);
  const bool is_blocked =
      format != nullptr && (*format == to_string(Format::nchw16c) || *format == to_string(Format::nchw8c));
  if (!is_blocked || weights == nullptr || weights->empty()) return std::nullopt;
  const Shape& result = graph.tensor(*node.outputs[0]).shape;
  const bool is_full = result.rank() >= 3 && weights->front() % result[result.rank() - 1] == 0;
  return is_full ? std::nullopt : std::optional(weights->front());
}

// The node without its epilogue.
GraphBuilder::NodeSpec product_spec(const Graph& graph, NodeId id) {
  GraphBuilder::NodeSpec product = GraphBuilder::spec_of(graph, id);
  if (!is_lowered_product(graph.op(id))) product.domain.clear();
  std::erase_if(product.attributes,
                [](const Attribute& one) { return one.name == kEpilogueAttribute || one.name == kProductAttribute; });
  product.inputs.resize(kProductOperands);
  while (!product.inputs.empty() && !product.inputs.back()) product.inputs.pop_back();
  product.control_inputs.clear();
  return product;
}

GraphBuilder::NodeSpec chain_spec(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  GraphBuilder::NodeSpec chain{.name = node.name, .domain = std::string(kOwnDomain), .type = std::string(kChainType)};
  chain.attributes.push_back(
      {std::string(kProgramAttribute), *find_attribute<std::vector<std::string>>(node.attributes, kEpilogueAttribute)});
  if (const auto channels = padded_channels(graph, id))
    chain.attributes.push_back({std::string(kChannelsAttribute), *channels});
  return chain;
}

Result<Separated> separated(const Graph& graph, NodeId id) {
  const Result<Graph> program = epilogue_program(graph, id);
  if (!program) return program.error();
  const Node& node = graph.node(id);
  GraphBuilder builder(graph.name());
  std::map<TensorId, TensorId> original;
  std::map<TensorId, TensorId> now;
  for (const std::optional<TensorId>& input : node.inputs) {
    if (!input || now.contains(*input)) continue;
    const Tensor& tensor = graph.tensor(*input);
    const TensorId added = builder.add_tensor({.name = tensor.name, .dtype = tensor.dtype, .shape = tensor.shape},
                                              tensor.role == Role::constant ? Role::constant : Role::input);
    now[*input] = added;
    original[added] = *input;
  }
  const Tensor& result = graph.tensor(*node.outputs[0]);
  std::string between = result.name + " (product)";
  const auto is_taken = [&] {
    return std::ranges::any_of(now, [&](const auto& pair) { return graph.tensor(pair.first).name == between; });
  };
  while (is_taken()) between += ".1";
  const TensorId product_result = builder.add_tensor({.name = between, .dtype = result.dtype, .shape = result.shape});
  const TensorId chain_result = builder.add_tensor({.name = result.name, .dtype = result.dtype, .shape = result.shape});
  GraphBuilder::NodeSpec product = product_spec(graph, id);
  for (std::optional<TensorId>& input : product.inputs) input = input ? std::optional(now[*input]) : std::nullopt;
  product.outputs = {product_result};
  GraphBuilder::NodeSpec chain = chain_spec(graph, id);
  chain.inputs = {product_result};
  for (std::size_t at = kProductOperands; at < node.inputs.size(); ++at)
    chain.inputs.emplace_back(now[*node.inputs[at]]);
  chain.outputs = {chain_result};
  builder.add_node(std::move(product));
  builder.add_node(std::move(chain));
  builder.set_outputs({chain_result});
  Result<Graph> built = std::move(builder).build();
  if (!built) return built.error();
  return Separated{*std::move(built), std::move(original)};
}

// Runs one kernel after the other.
class SeparateKernel final : public PreparedKernel {
 public:
  SeparateKernel(std::unique_ptr<PreparedKernel> product, std::unique_ptr<PreparedKernel> chain, std::size_t operands)
      : product_(std::move(product)), chain_(std::move(chain)), operands_(operands) {}

  [[nodiscard]] Bytes bound_bytes() const override {
    return Bytes(kOwnBytes) + product_bytes() + chain_->bound_bytes();
  }

  BoundKernel* bind(std::byte* at, std::span<const BoundTensor> reads, std::span<const BoundTensor> writes,
                    std::byte* scratch) const override {
    auto* bound = new (at) Bound;
    std::byte* const of_product = at + kOwnBytes;
    bound->parts[0] = product_->bind(of_product, reads.first(operands_), writes, scratch);
    std::array<BoundTensor, kMostChainOperands> of_chain = {writes[0]};
    const std::span<const BoundTensor> others = reads.subspan(kProductOperands);
    std::ranges::copy(others, of_chain.begin() + 1);
    const std::span<const BoundTensor> chain_reads(of_chain.data(), 1 + others.size());
    bound->parts[1] = chain_->bind(of_product + product_bytes().count(), chain_reads, writes, nullptr);
    bound->run = &Bound::call;
    bound->rebind = &Bound::follow_cells;
    bound->destroy = &Bound::end;
    return bound;
  }

 private:
  struct Bound : BoundKernel {
    std::array<BoundKernel*, 2> parts{};

    static RunStatus call(BoundKernel* self, Team& team) {
      for (BoundKernel* part : static_cast<Bound*>(self)->parts) {
        const RunStatus status = part->run(part, team);
        if (status.code != RunCode::ok) return status;
      }
      return {};
    }
    static void follow_cells(BoundKernel* self) {
      for (BoundKernel* part : static_cast<Bound*>(self)->parts) rebind_part(*part);
    }
    static void end(BoundKernel* self) {
      for (BoundKernel* part : static_cast<Bound*>(self)->parts) destroy_part(*part);
    }
  };
  static constexpr std::int64_t kOwnBytes = 64;
  static_assert(sizeof(Bound) <= kOwnBytes);

  // A multiple of the alignment of bound objects.
  [[nodiscard]] Bytes product_bytes() const {
    return Bytes((product_->bound_bytes().count() + kOwnBytes - 1) / kOwnBytes * kOwnBytes);
  }

  std::unique_ptr<PreparedKernel> product_;
  std::unique_ptr<PreparedKernel> chain_;
  std::size_t operands_;  // of the product
};

constexpr std::array kSeparateTypes{DType::f32};
constexpr std::array kSeparateOperators{SupportedOperator{kOwnDomain, kConvType, kSeparateTypes},
                                        SupportedOperator{kOwnDomain, kGemmType, kSeparateTypes},
                                        SupportedOperator{kOwnDomain, kMatMulType, kSeparateTypes},
                                        SupportedOperator{kOwnDomain, kPackedMatMulType, kSeparateTypes}};

// A node without an epilogue gets no kernel, and no reason either: that of its own family says more.
Offer offer_separate(const OfferInput& input) {
  if (!has_epilogue(input.graph.node(input.node))) return {};
  const Result<Separated> both = separated(input.graph, input.node);
  if (!both) return {{}, both.error().message};
  OfferInput part = {.graph = both->graph,
                     .node = kProductNode,
                     .threads = input.threads,
                     .caches = input.caches,
                     .includes_onednn = input.includes_onednn};
  Offer product = offer_of_all(part);
  if (product.kernels.empty()) return product;
  part.node = kChainNode;
  Offer chain = offer_of_all(part);
  if (chain.kernels.empty()) return chain;
  Kernel kernel = std::move(product.kernels.back());
  if (kernel.name != "plain") kernel.name += "+chain";
  kernel.in_place.clear();
  return {{std::move(kernel)}, ""};
}

Result<std::unique_ptr<PreparedKernel>> prepare_separate(const PrepareInput& input) {
  LOWTIDE_TRY(const Separated both, separated(input.graph, input.node));
  PrepareInput part{.graph = both.graph,
                    .node = kProductNode,
                    .kernel = {},
                    .constant = {},
                    .overwritten_input = {},
                    .threads = input.threads,
                    .caches = input.caches};
  part.constant = [&](TensorId id) -> std::span<const std::byte> {
    const auto found = both.original.find(id);
    return found == both.original.end() ? std::span<const std::byte>() : input.constant(found->second);
  };
  const Offer offered = offer_of_all({.graph = both.graph,
                                      .node = kProductNode,
                                      .threads = input.threads,
                                      .caches = input.caches,
                                      .includes_onednn = is_onednn_kernel(input.kernel)});
  if (offered.kernels.empty()) return unsupported_error(unsupported(both.graph));
  part.kernel = offered.kernels.back().name;
  Result<std::unique_ptr<PreparedKernel>> product = prepare(part);
  if (!product) return product.error();
  part.node = kChainNode;
  part.kernel = "plain";
  part.overwritten_input = 0;
  Result<std::unique_ptr<PreparedKernel>> chain = prepare(part);
  if (!chain) return chain.error();
  return std::unique_ptr<PreparedKernel>(std::make_unique<SeparateKernel>(*std::move(product), *std::move(chain),
                                                                          both.graph.node(kProductNode).inputs.size()));
}

}  // namespace

Family separate_family() {
  return {.name = "separate", .operators = kSeparateOperators, .offer = &offer_separate, .prepare = &prepare_separate};
}

}  // namespace lowtide::kernels_internal
