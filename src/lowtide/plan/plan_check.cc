// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/plan/plan_check.h"

#include <algorithm>
#include <utility>

#include "lowtide/base/limits.h"
#include "lowtide/base/listed.h"
#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"
#include "lowtide/plan/check_form.h"

namespace lowtide::plan_internal {
namespace {

// The index of a parent in a list whose entry 0 is the root.
std::size_t index_of(std::optional<std::uint32_t> parent) { return parent ? std::size_t{*parent} + 1 : 0; }

// A parent comes before its bodies, so there are no cycles, and one pass finds all depths.
template <typename Entry>
Result<std::vector<int>> check_parents(const std::vector<Entry>& entries, const std::string& place) {
  std::vector<int> depth(entries.size(), 0);
  for (std::size_t at = 1; at < entries.size(); ++at) {
    const std::size_t parent = index_of(entries[at].parent);
    const std::string entry = place + "[" + std::to_string(at - 1) + "]";
    if (parent >= at) {
      return Error{ErrorCode::invalid,
                   "the parent is entry " + std::to_string(parent - 1) + ", which is not before its body, entry " +
                       std::to_string(at - 1),
                   entry + ".parent"};
    }
    depth[at] = depth[parent] + 1;
    if (depth[at] > limits::kMaxBodyNesting) {
      return Error{ErrorCode::over_limit,
                   "bodies are nested deeper than the limit of " + std::to_string(limits::kMaxBodyNesting) +
                       " (kMaxBodyNesting)",
                   entry};
    }
  }
  return depth;
}

// Checks that the bodies of one graph have the order of its nodes.
Result<void> check_labels(const std::vector<ReadLabels>& labels, const std::string& place) {
  LOWTIDE_TRY(const std::vector<int> depth, check_parents(labels, place));
  std::vector<NodeId> last(labels.size());
  for (std::size_t at = 1; at < labels.size(); ++at) {
    const std::size_t parent = index_of(labels[at].parent);
    const std::string node_place = place + "[" + std::to_string(at - 1) + "].node";
    const std::size_t nodes = labels[parent].labels.nodes.size();
    const std::string node = "node " + std::to_string(labels[at].node.value());
    if (labels[at].node.index() >= nodes) {
      return Error{ErrorCode::invalid, node + " does not exist; the number of nodes is " + std::to_string(nodes),
                   node_place};
    }
    if (labels[at].node < last[parent]) {
      return Error{ErrorCode::invalid,
                   node + " comes after node " + std::to_string(last[parent].value()) +
                       "; bodies must have the order of their nodes",
                   node_place};
    }
    last[parent] = labels[at].node;
  }
  return {};
}

// Finds the labels of the bodies that steps run. The n-th body of a step has the labels of the n-th body of its node.
class BodyMatch {
 public:
  explicit BodyMatch(const ReadFile& file)
      : file_(file), bodies_(file.labels.size()), labels_of_(file.plans.size(), 0), used_(file.plans.size()) {
    for (std::size_t at = 1; at < file.labels.size(); ++at) {
      const ReadLabels& entry = file.labels[at];
      bodies_[index_of(entry.parent)].emplace_back(entry.node, at);
    }
  }

  // The labels of plan `at`. Requires: its parent has been matched.
  Result<std::size_t> match(std::size_t at, const std::string& place) {
    const ReadPlan& entry = file_.plans[at];
    const std::size_t parent = index_of(entry.parent);
    const Plan& around = file_.plans[parent].plan;
    if (!around.program.steps.contains(entry.step)) {
      return Error{ErrorCode::invalid,
                   "step " + std::to_string(entry.step.value()) + " does not exist; the number of steps is " +
                       std::to_string(around.program.steps.size()),
                   place + ".step"};
    }
    std::vector<std::uint32_t>& used = used_[parent];
    used.resize(around.program.steps.size());
    const Compute* compute = std::get_if<Compute>(&around.program.steps[entry.step].work);
    if (compute == nullptr) {
      return Error{ErrorCode::invalid,
                   "step " + std::to_string(entry.step.value()) + " computes nothing, so it runs no body",
                   place + ".step"};
    }
    const NodeId node = compute->node;
    const auto& list = bodies_[labels_of_[parent]];
    const auto first = std::lower_bound(list.begin(), list.end(), node,
                                        [](const auto& body, NodeId wanted) { return body.first < wanted; });
    const std::size_t position = used[entry.step.index()]++;
    const bool is_there = position < static_cast<std::size_t>(list.end() - first) &&
                          (first + static_cast<std::ptrdiff_t>(position))->first == node;
    const std::size_t labels = is_there ? (first + static_cast<std::ptrdiff_t>(position))->second : 0;
    if (!is_there || file_.labels[labels].body != entry.body) {
      return Error{ErrorCode::invalid,
                   "body " + std::to_string(position) + " of step " + std::to_string(entry.step.value()) +
                       " is named " + quoted(entry.body) + ", but $.bodies has " +
                       (is_there ? quoted(file_.labels[labels].body) : std::string("no such body")) + " for node " +
                       std::to_string(node.value()),
                   place + ".body"};
    }
    labels_of_[at] = labels;
    return labels;
  }

 private:
  const ReadFile& file_;
  std::vector<std::vector<std::pair<NodeId, std::size_t>>> bodies_;  // by labels: node and entry, sorted by node
  std::vector<std::size_t> labels_of_;                               // by plan
  std::vector<std::vector<std::uint32_t>> used_;                     // by plan and step: number of bodies so far
};

Result<void> check_counts(const ReadFile& file, const std::string& place) {
  const Provenance& said = file.plans[0].plan.provenance;
  const Labels& labels = file.labels[0].labels;
  const auto differ = [&](const char* table, std::int64_t count, std::size_t rows) {
    return Error{ErrorCode::invalid,
                 "says " + std::to_string(count) + ", but $." + table + " has " + std::to_string(rows) + " rows",
                 place + "$.provenance." + table};
  };
  if (said.nodes != static_cast<std::int64_t>(labels.nodes.size()))
    return differ("nodes", said.nodes, labels.nodes.size());
  if (said.tensors != static_cast<std::int64_t>(labels.tensors.size())) {
    return differ("tensors", said.tensors, labels.tensors.size());
  }
  return {};
}

// A reader relies on the list of features, so it must be exact.
Result<void> check_features(const ReadFile& file, const std::string& place) {
  std::vector<const Plan*> plans;
  for (const ReadPlan& entry : file.plans) plans.push_back(&entry.plan);
  const std::vector<std::string_view> used = features_of(plans);
  if (used == file.features) return {};
  return Error{ErrorCode::invalid,
               used.empty() ? "the plan uses no feature, so the list must be empty"
                            : "the plan uses " + listed(used) + "; the list must name exactly these, in this order",
               place + "$.features"};
}

}  // namespace

Result<void> check_plan_file(const ReadFile& file, const std::string& source_name) {
  const std::string place = source_name + ": ";
  LOWTIDE_RETURN_IF_ERROR(check_counts(file, place));
  LOWTIDE_RETURN_IF_ERROR(check_labels(file.labels, place + "$.bodies"));
  LOWTIDE_TRY(const std::vector<int> depth, check_parents(file.plans, place + "$.body_plans"));
  BodyMatch bodies(file);
  std::int64_t total = 0;
  for (std::size_t at = 0; at < file.plans.size(); ++at) {
    std::string here = place + "$";
    std::size_t labels = 0;
    if (at > 0) {
      here += ".body_plans[" + std::to_string(at - 1) + "]";
      LOWTIDE_TRY(const std::size_t matched, bodies.match(at, here));
      labels = matched;
    }
    const Labels& counts = file.labels[labels].labels;
    const std::vector<FormFault> faults =
        check_form(file.plans[at].plan, {counts.nodes.size(), counts.tensors.size(), at > 0}, total, 1);
    if (!faults.empty()) return Error{ErrorCode::invalid, faults[0].message, here + "." + faults[0].path};
  }
  return check_features(file, place);
}

}  // namespace lowtide::plan_internal
