// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/lower/more_load_time.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lowtide/graph/builder.h"
#include "lowtide/graph/lowered.h"

namespace lowtide::lower_internal {
namespace {

class LoadTimeExtension {
 public:
  LoadTimeExtension(const Graph& run, const Graph& load, std::optional<std::uint32_t> constants)
      : run_(run), constants_(constants), rewriter_(run), builder_(load.name()), results_(load.outputs()) {
    for (TensorId id : all_ids<TensorId>(load.tensors().size())) {
      const Tensor& tensor = load.tensor(id);
      const TensorId copy = builder_.add_copy(load, id, tensor.producer ? Role::temporary : tensor.role);
      tensors_.emplace(tensor.name, Known{copy, tensor.producer ? std::nullopt : tensor.constant});
    }
    for (std::size_t at = 0; at < results_.size(); ++at) slot_of_.emplace(load.tensor(results_[at]).name, at);
    for (NodeId id : all_ids<NodeId>(load.nodes().size())) builder_.add_node(GraphBuilder::spec_of(load, id));
  }

  Result<LoadTimeSplit> split() && {
    for (NodeId id : all_ids<NodeId>(run_.nodes().size())) {
      if (is_moved(id)) move(id);
    }
    rewriter_.remove_unused();
    Result<Rewritten> run = std::move(rewriter_).finish();
    if (!run) return run.error();
    builder_.set_outputs(std::move(results_));
    Result<Graph> load = std::move(builder_).build();
    if (!load) return load.error();
    return LoadTimeSplit{*std::move(run), *std::move(load)};
  }

 private:
  struct Known {
    TensorId id;
    std::optional<ConstantId> constant;
  };

  [[nodiscard]] bool is_moved(NodeId id) const {
    const Operator& op = run_.op(id);
    return op.domain == kOwnDomain && (op.type == kPackType || op.type == kReorderType) &&
           run_.tensor(*run_.node(id).inputs[0]).role == Role::constant;
  }

  // The earlier result that a constant of the graph is.
  [[nodiscard]] std::optional<std::size_t> slot_of(TensorId id) const {
    const Tensor& tensor = run_.tensor(id);
    if (constants_) {
      if (!tensor.constant || tensor.constant->value() < *constants_) return std::nullopt;
      return tensor.constant->value() - *constants_;
    }
    const auto found = slot_of_.find(tensor.name);
    return found == slot_of_.end() ? std::nullopt : std::optional(found->second);
  }

  std::string unique_name(const std::string& name) const {
    std::string unique = name;
    for (int number = 1; tensors_.contains(unique); ++number) unique = name + "." + std::to_string(number);
    return unique;
  }

  // The constant in the load-time work.
  TensorId source_of(TensorId id, std::optional<std::size_t> slot) {
    if (slot) return results_of_earlier_[*slot];
    const Tensor& tensor = run_.tensor(id);
    const auto found = tensors_.find(tensor.name);
    if (found != tensors_.end() && found->second.constant == tensor.constant) return found->second.id;
    const std::string name = unique_name(tensor.name);
    const TensorId made = builder_.add_tensor(
        {.name = name, .dtype = tensor.dtype, .shape = tensor.shape, .constant = tensor.constant}, Role::constant);
    tensors_.emplace(name, Known{made, tensor.constant});
    return made;
  }

  void move(NodeId id) {
    const TensorId read = *run_.node(id).inputs[0];
    const TensorId result = *run_.node(id).outputs[0];
    const Tensor& tensor = run_.tensor(result);
    const std::optional<std::size_t> slot = slot_of(read);
    const TensorId source = source_of(read, slot);
    const std::string name = unique_name(tensor.name);
    const TensorId made = builder_.add_tensor({.name = name, .dtype = tensor.dtype, .shape = tensor.shape});
    tensors_.emplace(name, Known{made, std::nullopt});
    GraphBuilder::NodeSpec spec = GraphBuilder::spec_of(run_, id);
    spec.inputs = {source};
    spec.outputs = {made};
    builder_.add_node(std::move(spec));

    const std::span<const NodeId> readers = run_.readers(read);
    const bool is_replaced = slot && results_[*slot] == source && !run_.is_needed_at_end(read) &&
                             std::ranges::all_of(readers, [&](NodeId reader) { return is_moved(reader); });
    const std::size_t number = is_replaced ? *slot : results_.size();
    is_replaced ? results_[number] = made : results_.emplace_back(made);
    std::optional<ConstantId> constant;
    if (constants_) constant = ConstantId(*constants_ + static_cast<std::uint32_t>(number));
    const TensorId now =
        rewriter_.add_tensor({tensor.name, tensor.dtype, tensor.shape, false, constant}, {result}, Role::constant);
    rewriter_.replace_uses(result, now);
    rewriter_.remove_node(id);
  }

  const Graph& run_;
  std::optional<std::uint32_t> constants_;
  GraphRewriter rewriter_;
  GraphBuilder builder_;
  std::vector<TensorId> results_;  // the outputs of the load-time work
  std::vector<TensorId> results_of_earlier_ = results_;
  std::unordered_map<std::string, Known> tensors_;        // of the load-time work, by name
  std::unordered_map<std::string, std::size_t> slot_of_;  // numbers of the earlier results, by name
};

}  // namespace

Result<LoadTimeSplit> split_more_load_time(const Graph& run, const Graph& load,
                                           std::optional<std::uint32_t> constants) {
  return LoadTimeExtension(run, load, constants).split();
}

}  // namespace lowtide::lower_internal
