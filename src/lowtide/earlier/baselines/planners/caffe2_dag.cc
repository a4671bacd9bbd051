// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/baselines/planners/caffe2_dag.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/base/try.h"
#include "lowtide/earlier/baselines/rules/sharing_rules.h"
#include "lowtide/verify/check_sharing.h"

namespace lowtide::baselines_internal {
namespace {

Result<std::vector<BlobId>> blobs_of(const BlobNet& net, const std::vector<TensorId>& tensors, const char* what) {
  std::vector<BlobId> blobs;
  for (TensorId id : tensors) {
    if (!net.blob_of.contains(id)) {
      return Error{ErrorCode::invalid,
                   "tensor " + std::to_string(id.value()) + " is listed as " + what + ", but the graph has only " +
                       std::to_string(net.blob_of.size()) + " tensors",
                   ""};
    }
    blobs.push_back(net.blob_of[id]);
  }
  return blobs;
}

// Kept blobs are left out.
Result<Flags<BlobId>> marked(const BlobNet& net, const std::vector<TensorId>& tensors, const char* what) {
  LOWTIDE_TRY(const std::vector<BlobId> blobs, blobs_of(net, tensors, what));
  Flags<BlobId> marks(net.blobs.size());
  for (BlobId id : blobs) {
    if (!net.blobs[id].is_kept) marks.set(id);
  }
  return marks;
}

Result<void> mark_taking_part(const BlobNet& net, const std::vector<NodeId>& nodes, DagRule& rule) {
  Flags<NodeId> is_listed(net.ops.size());
  for (NodeId id : nodes) {
    if (!net.graph->nodes().contains(id)) {
      return Error{ErrorCode::invalid,
                   "node " + std::to_string(id.value()) + " is to take part, but the graph has only " +
                       std::to_string(net.ops.size()) + " nodes",
                   ""};
    }
    is_listed.set(id);
  }
  rule.takes_part = Flags<std::uint32_t>(net.ops.size());
  for (std::uint32_t at = 0; at < net.ops.size(); ++at) {
    if (is_listed.test(net.ops[at].node)) rule.takes_part.set(at);
  }
  return {};
}

// Sets what the caller may give for all of these planners. `heads` are the defaults.
Result<void> add_options(const BlobNet& net, const BaselineOptions& options, const std::vector<TensorId>& heads,
                         DagRule& rule) {
  if (options.taking_part) LOWTIDE_RETURN_IF_ERROR(mark_taking_part(net, *options.taking_part, rule));
  LOWTIDE_TRY(std::vector<BlobId> starts, blobs_of(net, options.heads.value_or(heads), "a head"));
  rule.heads = std::move(starts);
  LOWTIDE_TRY(Flags<BlobId> not_released, marked(net, options.dont_release, "not to be released"));
  rule.is_not_released = std::move(not_released);
  rule.namescope = options.namescope;
  return {};
}

std::optional<std::string> fault_of(const BlobNet& net, const BaselineOptions& options, const Decision& decision) {
  std::vector<NodeId> order;
  for (const BlobOp& op : net.ops) order.push_back(op.node);
  BaselineOutcome outcome;
  claim(net, order, options, decision, outcome);
  const std::vector<Violation> violations = check_sharing(*net.graph, outcome.sharing);
  if (violations.empty()) return std::nullopt;
  return "its result is wrong: " + violations.front().message;
}

Result<Decision> decide(const BlobNet& net, const BaselineOptions& options, const DagRule& rule) {
  LOWTIDE_TRY(TokenChoice original, recycle_by_tokens(net, rule));
  std::optional<std::string> failure = std::move(original.failure);
  if (!failure) {
    Decision decision = decision_of(std::move(original.choice), ExecutionModel::dataflow);
    failure = fault_of(net, options, decision);
    if (!failure) return decision;
  }
  LOWTIDE_TRY(BlockChoice choice, recycle_in_dag(net, rule));
  for (std::string& name : choice.names) name.insert(0, rule.namescope);
  Decision decision = decision_of(std::move(choice), ExecutionModel::dataflow);
  decision.original_failure = std::move(failure);
  return decision;
}

Result<Decision> share_all(const BlobNet& net, const BaselineOptions& options, bool by_size) {
  DagRule rule{.by_size = by_size,
               .may_move = Flags<BlobId>(net.blobs.size()),
               .may_host = Flags<BlobId>(net.blobs.size()),
               .takes_part = Flags<std::uint32_t>(net.ops.size(), true)};
  if (options.shareable) {
    LOWTIDE_TRY(Flags<BlobId> shareable, marked(net, *options.shareable, "shareable"));
    rule.may_move = std::move(shareable);
  } else {
    for (BlobId id : all_ids<BlobId>(net.blobs.size())) {
      if (!net.blobs[id].is_kept) rule.may_move.set(id);
    }
  }
  LOWTIDE_RETURN_IF_ERROR(add_options(net, options, net.graph->inputs(), rule));
  Result<Decision> decision = decide(net, options, rule);
  if (decision) decision->all_may_share = !options.shareable && !options.taking_part && options.dont_release.empty();
  return decision;
}

Result<Decision> share_gradients(const BlobNet& net, const BaselineOptions& options, bool by_size) {
  LOWTIDE_TRY(Flags<BlobId> gradients, marked(net, options.gradients, "a gradient or host"));
  LOWTIDE_TRY(Flags<BlobId> hosts, marked(net, options.hosts, "a gradient or host"));
  DagRule rule{.by_size = by_size,
               .may_move = std::move(gradients),
               .may_host = std::move(hosts),
               .takes_part = Flags<std::uint32_t>(net.ops.size())};
  const auto is_gradient = [&](BlobId id) { return rule.may_move.test(id); };
  for (std::uint32_t at = 0; at < net.ops.size(); ++at) {
    const BlobOp& op = net.ops[at];
    if (std::any_of(op.inputs.begin(), op.inputs.end(), is_gradient) ||
        std::any_of(op.outputs.begin(), op.outputs.end(), is_gradient)) {
      rule.takes_part.set(at);
    }
  }
  LOWTIDE_RETURN_IF_ERROR(add_options(net, options, net.graph->outputs(), rule));
  Result<Decision> decision = decide(net, options, rule);
  if (decision) decision->all_may_share = false;
  return decision;
}

}  // namespace

Result<Decision> caffe2_dag(const BlobNet& net, const BaselineOptions& options) {
  return share_all(net, options, false);
}
Result<Decision> caffe2_dag_sized(const BlobNet& net, const BaselineOptions& options) {
  return share_all(net, options, true);
}
Result<Decision> caffe2_gradients(const BlobNet& net, const BaselineOptions& options) {
  return share_gradients(net, options, false);
}
Result<Decision> caffe2_gradients_sized(const BlobNet& net, const BaselineOptions& options) {
  return share_gradients(net, options, true);
}

}  // namespace lowtide::baselines_internal
