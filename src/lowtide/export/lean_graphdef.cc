// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/export/lean_graphdef.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "lowtide/base/checked.h"
#include "lowtide/graph/builder.h"
#include "lowtide/graphdef/node_list.h"
#include "lowtide/pipeline/keep_budget.h"
#include "lowtide/plan/hints.h"
#include "lowtide/target/target.h"

namespace lowtide {
namespace {

// The nodes that run as a plain graph. A control input reads an empty tensor, which a node of its own makes of the
// outputs of its source, so that it does not keep these outputs.
struct PlainRun {
  Graph graph;
  IdVector<NodeId, std::int64_t> costs;
  IdVector<NodeId, std::optional<std::uint32_t>> node_of;  // of the GraphDef; nullopt: only for control inputs
  std::vector<NodeHint> hints;
  Bytes resident;
};

class PlainRunMaker {
 public:
  explicit PlainRunMaker(const std::vector<CostedNodeOfRun>& costed) : costed_(costed) {}

  Result<PlainRun> make() && {
    for (const CostedNodeOfRun& one : costed_) {
      if (one.is_resident) {
        resident_ += Bytes(one.bytes);
      } else {
        outputs_[one.node] = add_tensor("n" + std::to_string(one.node), one.bytes);
      }
    }
    for (const CostedNodeOfRun& one : costed_) {
      for (std::uint32_t source : one.waits) add_signal(source);
    }
    for (const CostedNodeOfRun& one : costed_) {
      if (!one.is_resident) add_run(one);
    }
    builder_.set_outputs(fetched_);
    Result<GraphBuilder::Built> built = std::move(builder_).build_with_ids();
    if (!built) return built.error();
    return finish(*std::move(built));
  }

 private:
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
    PlainRun run{.graph = std::move(built.graph), .costs = {}, .node_of = {}, .hints = {}, .resident = resident_};
    run.costs = IdVector<NodeId, std::int64_t>(added_.size());
    run.node_of = IdVector<NodeId, std::optional<std::uint32_t>>(added_.size());
    for (std::size_t at = 0; at < added_.size(); ++at) {
      const NodeId id = built.node_ids[NodeId(static_cast<std::uint32_t>(at))];
      const CostedNodeOfRun* one = added_[at];
      if (one == nullptr) continue;
      run.costs[id] = one->nanoseconds;
      run.node_of[id] = one->node;
      if (!one->may_run_again) run.hints.push_back({.node = id, .kind = HintKind::keep});
    }
    return run;
  }

  const std::vector<CostedNodeOfRun>& costed_;
  GraphBuilder builder_{""};
  std::unordered_map<std::uint32_t, TensorId> outputs_;  // by node
  std::unordered_map<std::uint32_t, TensorId> signals_;  // by node that is waited for
  std::vector<const CostedNodeOfRun*> added_;            // by node of the builder; nullptr: a signal
  std::vector<TensorId> fetched_;
  Bytes resident_;
};

// Writes a sequence of runs as nodes that wait for each other.
class RunWriter {
 public:
  explicit RunWriter(const std::vector<DefNode>& nodes)
      : before_(nodes), latest_(nodes.size()), runs_(nodes.size(), 0) {
    for (std::uint32_t at = 0; at < nodes.size(); ++at) by_name_[nodes[at].name] = at;
  }

  void add(std::uint32_t at) {
    DefNode node = before_[at];
    ++runs_[at];
    if (runs_[at] > 1) node.name = new_name(before_[at].name, runs_[at] - 1);
    for (std::string& input : node.inputs) redirect(input);
    if (!previous_.empty()) add_control(node, previous_);
    latest_[at] = node.name;
    previous_ = node.name;
    written_.push_back(std::move(node));
  }

  // With the nodes that do not run, or have no place in the order, as they were.
  [[nodiscard]] std::vector<DefNode> finish() && {
    std::vector<DefNode> all;
    for (std::uint32_t at = 0; at < before_.size(); ++at) {
      if (runs_[at] == 0) all.push_back(before_[at]);
    }
    std::ranges::move(written_, std::back_inserter(all));
    return all;
  }

  [[nodiscard]] std::vector<std::pair<std::string, std::int64_t>> recomputed() const {
    std::vector<std::pair<std::string, std::int64_t>> all;
    for (std::uint32_t at = 0; at < before_.size(); ++at) {
      if (runs_[at] > 1) all.emplace_back(before_[at].name, runs_[at] - 1);
    }
    return all;
  }

 private:
  std::string new_name(const std::string& name, std::int64_t number) {
    while (true) {
      std::string made = "Recomputed" + (number > 1 ? "_" + std::to_string(number) : "") + "/" + name;
      if (!by_name_.contains(made) && made_.insert(made).second) return made;
      ++number;
    }
  }

  void redirect(std::string& input) const {
    const DefInput name = read_input(input);
    const auto found = by_name_.find(std::string(name.node));
    if (found == by_name_.end() || latest_[found->second].empty()) return;
    const std::string_view rest = std::string_view(input).substr((name.is_control ? 1 : 0) + name.node.size());
    input = (name.is_control ? "^" : "") + latest_[found->second] + std::string(rest);
  }

  static void add_control(DefNode& node, const std::string& before) {
    const bool is_there =
        std::ranges::any_of(node.inputs, [&](const std::string& input) { return read_input(input).node == before; });
    if (!is_there) node.inputs.push_back("^" + before);
  }

  const std::vector<DefNode>& before_;
  std::unordered_map<std::string, std::uint32_t> by_name_;
  std::vector<std::string> latest_;  // name of the latest run by node; empty: none
  std::vector<std::int64_t> runs_;
  std::set<std::string> made_;
  std::string previous_;
  std::vector<DefNode> written_;
};

// The memory for what is not resident.
Bytes budget_of(const PlainRun& run, const ClusterDevice& device) {
  Bytes all;
  for (const Tensor& tensor : run.graph.tensors()) all += tensor.size;
  if (device.memory_bytes == 0) return all;
  return std::clamp(Bytes(device.memory_bytes) - run.resident, Bytes(0), std::max(all, Bytes(0)));
}

// In a branch, what waits for a node of the other branch never runs.
Result<void> check_branches(const std::vector<DefNode>& nodes, const std::vector<CostedNodeOfRun>& costed) {
  for (const CostedNodeOfRun& one : costed) {
    const DefNode& node = nodes[one.node];
    if (!node.op.ends_with("Switch") && !node.op.ends_with("Merge") && node.op != "_SwitchN") continue;
    return Error{ErrorCode::unsupported,
                 "the graph has branches, and nodes of a branch that is not taken cannot have a place in an order; the "
                 "planner grappler takes such graphs",
                 shown_node(node.name, node.op)};
  }
  return {};
}

Result<void> check_cost(const PlainRun& run) {
  std::int64_t total = 0;
  for (std::int64_t cost : run.costs) {
    const std::optional<std::int64_t> sum = checked_add(total, cost);
    if (!sum || *sum > kMaxTotalCost) {
      return Error{ErrorCode::over_limit,
                   "a run takes more than " + std::to_string(kMaxTotalCost) + " ns (kMaxTotalCost) on this device", ""};
    }
    total = *sum;
  }
  return {};
}

}  // namespace

Result<LeanGraphDef> lean_graphdef(const ProtoMessage& graphdef, const LeanGraphDefOptions& options) {
  if (options.cluster.devices.size() != 1) {
    return Error{ErrorCode::unsupported,
                 "the cluster has " + std::to_string(options.cluster.devices.size()) +
                     " devices, and plans for TensorFlow need one",
                 ""};
  }
  if (options.ends.fetches.empty()) return Error{ErrorCode::invalid, "nothing is fetched, so nothing runs", ""};
  const std::vector<DefNode> nodes = nodes_of_graphdef(graphdef);
  const Result<std::vector<DefNode>> shaped = with_shapes(nodes, options.shapes);
  if (!shaped) return shaped.error();
  const Result<std::vector<CostedNodeOfRun>> costed = cost_nodes(*shaped, options.cluster, options.ends);
  if (!costed) return costed.error();
  LOWTIDE_RETURN_IF_ERROR(check_branches(nodes, *costed));
  const Result<PlainRun> run = PlainRunMaker(*costed).make();
  if (!run) return run.error();
  LOWTIDE_RETURN_IF_ERROR(check_cost(*run));
  Target exact = dense_target();
  for (Region& region : exact.machine.regions) region.alignment = Bytes(1);
  const Result<KeptBudget> kept = keep_budget(
      run->graph, run->costs, exact,
      {.budget = budget_of(*run, options.cluster.devices.front()), .effort = options.effort, .hints = run->hints});
  if (!kept) return kept.error();
  RunWriter writer(nodes);
  for (NodeId id : kept->answer.runs) {
    if (run->node_of[id]) writer.add(*run->node_of[id]);
  }
  LeanGraphDef lean{.graphdef = {},
                    .recomputed = writer.recomputed(),
                    .resident = run->resident,
                    .peak = kept->answer.peak + run->resident,
                    .floor = kept->ordered.bound + run->resident,
                    .unsized = {},
                    .answer = kept->answer};
  for (const CostedNodeOfRun& one : *costed) {
    if (!one.is_sized) lean.unsized.push_back(nodes[one.node].name);
  }
  lean.graphdef = with_nodes(graphdef, std::move(writer).finish());
  return lean;
}

}  // namespace lowtide
