// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/target/described_catalogue.h"

#include <algorithm>
#include <map>
#include <utility>

#include "lowtide/base/limits.h"
#include "lowtide/graph/lowered.h"

namespace lowtide::target_internal {
namespace {

// The bytes that a node reads and writes, with each tensor once. Sums of sizes of one graph fit 62 bits.
struct Traffic {
  Bytes inputs;
  Bytes outputs;
  Bytes weights;
};

Traffic traffic_of(const Graph& graph, const Node& node) {
  Traffic traffic;
  std::vector<TensorId> inputs;
  for (const std::optional<TensorId>& input : node.inputs) {
    if (input) inputs.push_back(*input);
  }
  std::sort(inputs.begin(), inputs.end());
  inputs.erase(std::unique(inputs.begin(), inputs.end()), inputs.end());
  for (TensorId input : inputs) {
    const Tensor& tensor = graph.tensor(input);
    (tensor.role == Role::constant ? traffic.weights : traffic.inputs) += tensor.size;
  }
  for (const std::optional<TensorId>& output : node.outputs) {
    if (output) traffic.outputs += graph.tensor(*output).size;
  }
  return traffic;
}

// a + times * bytes, at most limits::kMaxTensorBytes.
Bytes plus_multiple(Bytes a, std::int64_t times, Bytes bytes) {
  const std::optional<std::int64_t> product = checked_multiply(times, bytes.count());
  const std::optional<std::int64_t> sum = product ? checked_add(a.count(), *product) : std::nullopt;
  return Bytes(std::min(sum.value_or(limits::kMaxTensorBytes), limits::kMaxTensorBytes));
}

Kernel kernel_of(const KernelRule& rule, const Traffic& traffic, const Kernel& dense) {
  Kernel kernel{.name = rule.name, .scratch = rule.scratch};
  kernel.scratch = plus_multiple(kernel.scratch, rule.scratch_per_input_byte, traffic.inputs);
  kernel.scratch = plus_multiple(kernel.scratch, rule.scratch_per_output_byte, traffic.outputs);
  kernel.scratch = plus_multiple(kernel.scratch, rule.scratch_per_weight_byte, traffic.weights);
  if (rule.in_place) kernel.in_place = dense.in_place;
  kernel.may_alias_views = rule.may_alias_views && dense.may_alias_views;
  const Bytes moved = traffic.inputs + traffic.outputs + traffic.weights;
  kernel.cost_seconds = rule.cost_seconds + rule.cost_seconds_per_byte * static_cast<double>(moved.count());
  if (kernel.cost_seconds > 0) kernel.cost_source = CostSource::target;
  return kernel;
}

// The operator whose rules a node has if there are none for its own. A product or convolution of integers, which
// lowering makes of a quantized model, is such an operator of the model.
Operator as_written(const Operator& op) {
  if (op.type == kQuantizedConvType) return {.domain = "", .type = "Conv"};
  if (op.type == kQuantizedMatMulType) return {.domain = "", .type = "MatMul"};
  return op;
}

class DescribedCatalogue final : public Catalogue {
 public:
  explicit DescribedCatalogue(std::vector<KernelRule> rules) : rules_(std::move(rules)) {
    for (std::size_t at = 0; at < rules_.size(); ++at) {
      if (rules_[at].type == "*") {
        for_any_.push_back(at);
      } else {
        by_operator_[{rules_[at].domain, rules_[at].type}].push_back(at);
      }
    }
  }

  [[nodiscard]] std::vector<Kernel> kernels(const Graph& graph, NodeId id) const override {
    std::vector<Kernel> dense = dense_catalogue()->kernels(graph, id);
    const Operator& op = graph.op(id);
    auto exact = by_operator_.find({op.domain == "ai.onnx" ? std::string() : op.domain, op.type});
    if (exact == by_operator_.end()) exact = by_operator_.find({as_written(op).domain, as_written(op).type});
    const std::vector<std::size_t>& chosen = exact != by_operator_.end() ? exact->second : for_any_;
    if (chosen.empty()) return dense;
    const Traffic traffic = traffic_of(graph, graph.node(id));
    std::vector<Kernel> kernels;
    kernels.reserve(chosen.size());
    for (std::size_t rule : chosen) kernels.push_back(kernel_of(rules_[rule], traffic, dense.front()));
    // If a kernel has no cost, only the author of the file knows which is faster, so the order of the file stays.
    const auto has_cost = [](const Kernel& kernel) { return kernel.cost_seconds > 0; };
    if (std::all_of(kernels.begin(), kernels.end(), has_cost)) {
      std::stable_sort(kernels.begin(), kernels.end(),
                       [](const Kernel& a, const Kernel& b) { return a.cost_seconds < b.cost_seconds; });
    }
    return kernels;
  }

 private:
  std::vector<KernelRule> rules_;
  std::map<std::pair<std::string, std::string>, std::vector<std::size_t>> by_operator_;  // in file order
  std::vector<std::size_t> for_any_;
};

}  // namespace

std::shared_ptr<const Catalogue> described_catalogue(std::vector<KernelRule> rules) {
  return std::make_shared<DescribedCatalogue>(std::move(rules));
}

}  // namespace lowtide::target_internal
