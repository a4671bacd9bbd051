// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/order_json.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/base/article.h"
#include "lowtide/base/flags.h"
#include "lowtide/base/int128.h"
#include "lowtide/base/limits.h"
#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"
#include "lowtide/graph/builder.h"
#include "lowtide/graph/lowered.h"
#include "lowtide/import/order/order_file.h"
#include "lowtide/import/order/order_names.h"
#include "lowtide/import/order/order_steps.h"

namespace lowtide {
namespace import_internal {
namespace {

Result<void> check_costs(const OrderFile& file) {
  std::int64_t sum = 0;
  for (const OrderNode& node : file.nodes) {
    sum += std::max<std::int64_t>(node.cost, 0);
    if (sum <= kMaxTotalCost) continue;
    return Error{ErrorCode::over_limit,
                 "all costs together exceed 2^50 - 1 (kMaxTotalCost); give them in a larger unit of time", ""};
  }
  return {};
}

bool is_view(const OrderFile& file, std::size_t node) {
  const OrderExtras* more = file.extras_of(node);
  return more != nullptr && more->view_of.has_value();
}

// The nodes that run, in the given order.
Result<std::vector<std::size_t>> given_order(const OrderFile& file) {
  const auto count = static_cast<std::int64_t>(file.nodes.size());
  std::vector<std::size_t> order;
  Flags<std::size_t> is_there(file.nodes.size());
  for (std::int64_t node : file.order) {
    if (node < 0 || node >= count) {
      return invalid_order("one node of 'order' is node " + std::to_string(node) + ", but the file has " +
                           with_count(file.nodes.size(), "node") + ", counted from 0");
    }
    const auto at = static_cast<std::size_t>(node);
    if (!is_there.insert(at)) {
      return invalid_order("'order' has node " + std::to_string(node) + " twice; list each node once");
    }
    if (!is_view(file, at)) order.push_back(at);
  }
  std::vector<std::size_t> runs;
  for (std::size_t node = 0; node < file.nodes.size(); ++node) {
    if (!is_view(file, node)) runs.push_back(node);
  }
  if (file.order.empty()) return runs;
  if (order.size() == runs.size()) return order;
  return invalid_order("'order' has " + std::to_string(order.size()) + " of " + std::to_string(runs.size()) +
                       " nodes that run; omit it, or list each node once");
}

// The graph of the runs: their outputs and parts, and a tensor without readers for scratch. States are no tensors. What
// must come before an update is a control input.
class OrderGraph {
 public:
  OrderGraph(const OrderFile& file, const OrderSteps& steps)
      : steps_(steps),
        facts_(steps.problem),
        builder_(file.name),
        tensors_(steps.problem.nodes.size()),
        inputs_(steps.runs.size()) {}

  Result<GraphBuilder::Built> build() && {
    const IdVector<NodeId, BudgetNode>& nodes = steps_.problem.nodes;
    for (NodeId id : made_entries()) tensors_[id] = add_tensor(steps_.names[id], nodes[id].size.count());
    add_controls();
    std::vector<std::vector<std::optional<TensorId>>> outputs(steps_.runs.size());
    for (NodeId id : all_ids<NodeId>(nodes.size())) {
      if (tensors_[id]) outputs[nodes[id].part_of.value_or(id).index()].emplace_back(tensors_[id]);
    }
    for (std::size_t run = 0; run < steps_.runs.size(); ++run) {
      const NodeId id(static_cast<std::uint32_t>(run));
      if (steps_.scratch[run] > 0) {
        outputs[run].emplace_back(add_tensor(steps_.names[id] + "/scratch", steps_.scratch[run]));
      }
      builder_.add_node({.name = steps_.names[id],
                         .domain = std::string(kOwnDomain),
                         .type = "Node",
                         .inputs = reads_of(id),
                         .outputs = std::move(outputs[run]),
                         .control_inputs = std::move(inputs_[run])});
    }
    std::vector<TensorId> kept;
    for (NodeId id : all_ids<NodeId>(nodes.size())) {
      const std::optional<TensorId>& tensor = tensors_[facts_.bytes[id]];
      if (nodes[id].is_output && tensor) kept.push_back(*tensor);
    }
    std::sort(kept.begin(), kept.end());
    kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
    builder_.set_outputs(std::move(kept));
    return std::move(builder_).build_with_ids();
  }

 private:
  // The entries with bytes of their own: runs in the order of the file, and then parts.
  [[nodiscard]] std::vector<NodeId> made_entries() const {
    std::vector<NodeId> entries;
    for (NodeId id : all_ids<NodeId>(steps_.problem.nodes.size())) {
      const BudgetNode& node = steps_.problem.nodes[id];
      if (!node.view_of && !node.is_state) entries.push_back(id);
    }
    std::sort(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(steps_.runs.size()),
              [&](NodeId a, NodeId b) { return steps_.runs[a.index()] < steps_.runs[b.index()]; });
    return entries;
  }

  TensorId add_tensor(std::string name, std::int64_t bytes) {
    return builder_.add_tensor({.name = std::move(name), .dtype = DType::u8, .shape = Shape({bytes})});
  }

  [[nodiscard]] std::vector<std::optional<TensorId>> reads_of(NodeId id) const {
    std::vector<std::optional<TensorId>> reads;
    for (NodeId read : steps_.problem.nodes[id].reads) {
      const std::optional<TensorId> tensor = tensors_[facts_.bytes[read]];
      if (tensor) reads.emplace_back(tensor);
    }
    std::sort(reads.begin(), reads.end());
    reads.erase(std::unique(reads.begin(), reads.end()), reads.end());
    return reads;
  }

  void add_controls() {
    const auto add = [&](NodeId before, NodeId after) { inputs_[after.index()].push_back(before); };
    for (const BeforeEdge& edge : steps_.problem.before) add(edge.reader, edge.writer);
    for (const BeforeEdge& edge : implied_before(steps_.problem)) add(edge.reader, edge.writer);
    Flags<NodeId> seen(steps_.runs.size());  // a node is in one group
    for (const std::vector<NodeId>& group : steps_.problem.groups) {
      std::optional<NodeId> last;
      for (NodeId id : group) {
        if (!seen.insert(id)) continue;
        if (last) add(*last, id);
        last = id;
      }
    }
  }

  const OrderSteps& steps_;
  const EntryBytes facts_;
  GraphBuilder builder_;
  IdVector<NodeId, std::optional<TensorId>> tensors_;  // by entry
  std::vector<std::vector<NodeId>> inputs_;            // by run
};

// "encoder.layer.3, model.py:40".
std::string origin_of(const OrderFile& file, std::size_t node) {
  const OrderExtras* more = file.extras_of(node);
  if (more == nullptr) return "";
  return more->module + (more->module.empty() || more->source.empty() ? "" : ", ") + more->source;
}

bool has_phases(const OrderFile& file) {
  return std::any_of(file.extras.begin(), file.extras.end(), [](const OrderExtras& one) { return !one.phase.empty(); });
}

// What is live at all times, and all nodes together.
Result<void> check_total(const OrderFile& file, const OrderSteps& steps) {
  Int128 total = Int128{file.fixed_bytes} + steps.state_bytes;
  for (const BudgetNode& node : steps.problem.nodes) {
    total += Int128{node.size.count()} + std::max(node.extra, Bytes(0)).count() + node.seed.count();
  }
  if (total <= limits::kMaxTotalBytes) return {};
  return Error{ErrorCode::over_limit,
               "'fixed_bytes', states and all nodes together exceed 2^62 - 1 bytes (kMaxTotalBytes)", ""};
}

Result<ImportedOrderGraph> make(const OrderFile& file, const OrderFileOptions& options) {
  OrderNames names(file);
  LOWTIDE_RETURN_IF_ERROR(names.check());
  if (options.with_costs) LOWTIDE_RETURN_IF_ERROR(check_costs(file));
  const Result<std::vector<std::size_t>> order = given_order(file);
  if (!order) return order.error();
  const Result<OrderSteps> steps = make_steps(file, names, *order);
  if (!steps) return steps.error();
  LOWTIDE_RETURN_IF_ERROR(check_total(file, *steps));
  LOWTIDE_TRY(GraphBuilder::Built built, OrderGraph(file, *steps).build());

  ImportedOrderGraph imported{.graph = std::move(built.graph), .index = {}, .notes = {}};
  const std::size_t count = steps->runs.size();
  imported.index.resize(count);
  imported.costs.resize(options.with_costs ? count : 0);
  imported.origins.resize(count);
  imported.phases.resize(has_phases(file) ? count : 0);
  bool is_sorted = true;
  for (std::size_t at = 0; at < count; ++at) {
    const NodeId id = built.node_ids[NodeId(static_cast<std::uint32_t>(at))];
    imported.index[id] = static_cast<std::int64_t>(steps->runs[at]);
    if (options.with_costs) imported.costs[id] = file.nodes[steps->runs[at]].cost;
    imported.origins[id] = origin_of(file, steps->runs[at]);
    const OrderExtras* more = file.extras_of(steps->runs[at]);
    if (imported.phases.contains(id) && more != nullptr) imported.phases[id] = more->phase;
    is_sorted = is_sorted && id.index() == at;
  }
  imported.names = steps->names;
  for (std::size_t at = 0; at < count; ++at) {
    const NodeId entry(static_cast<std::uint32_t>(at));
    imported.names[built.node_ids[entry]] = steps->names[entry];
  }
  imported.problem = is_sorted ? steps->problem : renumbered(steps->problem, built.node_ids);
  imported.has_steps = file.has_steps();
  imported.output_numbers = steps->output_numbers;
  if (options.with_costs) imported.fixed_bytes = Bytes(file.fixed_bytes) + Bytes(steps->state_bytes);
  imported.nanoseconds_per_cost = file.nanoseconds_per_cost;
  if (!is_sorted) {
    imported.notes.push_back(std::string(file.order.empty() ? "nodes" : "nodes of 'order'") +
                             " came before nodes that must run first, because of edges" +
                             (file.has_steps() ? ", 'before', 'overwrites' or 'groups'" : "") + "; all were sorted");
  }
  return imported;
}

}  // namespace
}  // namespace import_internal

Result<ImportedOrderGraph> parse_order_graph(std::string_view text, const OrderFileOptions& options) {
  const Result<import_internal::OrderFile> file = import_internal::read_order_file(text, options);
  if (!file) return file.error();
  return import_internal::make(*file, options);
}

}  // namespace lowtide
