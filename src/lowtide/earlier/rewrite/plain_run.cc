// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/rewrite/plain_run.h"

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "lowtide/base/try.h"
#include "lowtide/graph/builder.h"

namespace lowtide::rewrite_internal {
namespace {

class PlainRunMaker {
 public:
  PlainRunMaker(const std::vector<CostedNodeOfRun>& costed, std::uint32_t device, bool holds_fetched)
      : costed_(costed), device_(device), holds_fetched_(holds_fetched) {}

  Result<PlainRun> make() && {
    find_counted();
    for (const CostedNodeOfRun& one : costed_) {
      const std::int64_t bytes = counted_.contains(one.node) ? one.bytes : 0;
      if (counted_.contains(one.node)) resident_ += Bytes(one.held_bytes);
      const bool is_held = one.is_resident || (holds_fetched_ && one.is_fetched);
      if (is_held) resident_ += Bytes(bytes);
      if (!one.is_resident) outputs_[one.node] = add_tensor("n" + std::to_string(one.node), is_held ? 0 : bytes);
    }
    for (const CostedNodeOfRun& one : costed_) {
      for (std::uint32_t source : one.waits) add_signal(source);
    }
    for (const CostedNodeOfRun& one : costed_) {
      if (!one.is_resident) add_run(one);
    }
    builder_.set_outputs(fetched_);
    LOWTIDE_TRY(GraphBuilder::Built built, std::move(builder_).build_with_ids());
    return finish(std::move(built));
  }

 private:
  void find_counted() {
    for (const CostedNodeOfRun& one : costed_) {
      if (one.device != device_) continue;
      counted_.insert(one.node);
      counted_.insert(one.reads.begin(), one.reads.end());
    }
  }

  [[nodiscard]] bool has_place(const CostedNodeOfRun& one) const {
    if (counted_.contains(one.node)) return true;
    for (std::uint32_t source : one.reads) {
      if (counted_.contains(source) && outputs_.contains(source)) return true;
    }
    return false;
  }

  TensorId add_tensor(std::string name, std::int64_t bytes) {
    return builder_.add_tensor({.name = std::move(name), .dtype = DType::u8, .shape = Shape({bytes})});
  }

  void add_node(std::string name, const std::vector<TensorId>& inputs, TensorId output, const CostedNodeOfRun* costed) {
    builder_.add_node({.name = std::move(name),
                       .domain = "lowtide.graphdef",
                       .type = "Run",
                       .inputs = {inputs.begin(), inputs.end()},
                       .outputs = {output}});
    added_.push_back(costed);
  }

  void add_signal(std::uint32_t source) {
    const auto output = outputs_.find(source);
    if (output == outputs_.end() || signals_.contains(source)) return;
    const std::string name = "s" + std::to_string(source);
    signals_[source] = add_tensor(name, 0);
    add_node(name, {output->second}, signals_[source], nullptr);
  }

  void add_run(const CostedNodeOfRun& one) {
    std::vector<TensorId> inputs;
    for (std::uint32_t source : one.reads) {
      if (const auto found = outputs_.find(source); found != outputs_.end()) inputs.push_back(found->second);
    }
    for (std::uint32_t source : one.waits) {
      if (const auto found = signals_.find(source); found != signals_.end()) inputs.push_back(found->second);
    }
    add_node("n" + std::to_string(one.node), inputs, outputs_[one.node], &one);
    if (one.is_fetched) fetched_.push_back(outputs_[one.node]);
  }

  PlainRun finish(GraphBuilder::Built built) const {
    PlainRun run{.graph = std::move(built.graph),
                 .costs = IdVector<NodeId, std::int64_t>(added_.size()),
                 .origins = IdVector<NodeId, PlainRunNode>(added_.size()),
                 .hints = {},
                 .resident = resident_};
    for (std::size_t at = 0; at < added_.size(); ++at) {
      const NodeId id = built.node_ids[NodeId(static_cast<std::uint32_t>(at))];
      const CostedNodeOfRun* one = added_[at];
      if (one == nullptr) continue;
      run.costs[id] = one->nanoseconds;
      run.origins[id] = {.node = one->node, .has_place = has_place(*one)};
      // A caller gets the output of the run with the name of the node, which is the first one.
      if (!one->may_run_again || one->is_fetched) run.hints.push_back({.node = id, .kind = HintKind::keep});
    }
    return run;
  }

  const std::vector<CostedNodeOfRun>& costed_;
  std::uint32_t device_;
  bool holds_fetched_;
  GraphBuilder builder_{""};
  std::unordered_set<std::uint32_t> counted_;            // nodes whose outputs count
  std::unordered_map<std::uint32_t, TensorId> outputs_;  // by node
  std::unordered_map<std::uint32_t, TensorId> signals_;  // by node that is waited for
  std::vector<const CostedNodeOfRun*> added_;            // by node of the builder; nullptr: a signal
  std::vector<TensorId> fetched_;
  Bytes resident_;
};

}  // namespace

Result<PlainRun> make_plain_run(const std::vector<CostedNodeOfRun>& costed, std::uint32_t device, bool holds_fetched) {
  return PlainRunMaker(costed, device, holds_fetched).make();
}

}  // namespace lowtide::rewrite_internal
