// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/baselines/workspace.h"

#include <algorithm>
#include <optional>
#include <string>

#include "lowtide/base/checked.h"
#include "lowtide/base/limits.h"

namespace lowtide {
namespace {

Result<void> check_list(const Graph& graph, const IdVector<NodeId, Bytes>& list) {
  if (list.empty()) return {};
  if (list.size() != graph.nodes().size()) {
    return Error{ErrorCode::invalid,
                 "workspaces are given for " + std::to_string(list.size()) + " nodes, but the graph has " +
                     std::to_string(graph.nodes().size()),
                 ""};
  }
  for (NodeId id : all_ids<NodeId>(list.size())) {
    if (list[id] < Bytes(0) || list[id].count() > limits::kMaxTensorBytes) {
      return Error{ErrorCode::invalid,
                   "node " + std::to_string(id.value()) + " has a workspace of " + std::to_string(list[id].count()) +
                       " bytes; give 0 to " + std::to_string(limits::kMaxTensorBytes),
                   ""};
    }
  }
  return {};
}

}  // namespace

Result<WorkspaceLayout> lay_out_workspaces(const Graph& graph, const Workspaces& workspaces, std::uint32_t streams) {
  LOWTIDE_RETURN_IF_ERROR(check_list(graph, workspaces.shared));
  LOWTIDE_RETURN_IF_ERROR(check_list(graph, workspaces.unique));
  WorkspaceLayout layout;
  layout.streams = streams;
  std::optional<std::int64_t> end = 0;
  for (Bytes size : workspaces.unique) {
    layout.unique_at.push_back(Offset(*end));
    end = checked_add(*end, size.count());
    if (!end || *end > limits::kMaxTotalBytes) break;
  }
  for (Bytes size : workspaces.shared) layout.shared = std::max(layout.shared, size);
  const std::optional<std::int64_t> shared = checked_multiply(layout.shared.count(), streams);
  const std::optional<std::int64_t> total = end && shared ? checked_add(*end, *shared) : std::nullopt;
  if (!total || *total > limits::kMaxTotalBytes) {
    return Error{
        ErrorCode::over_limit,
        "the workspaces add up to more than " + std::to_string(limits::kMaxTotalBytes) + " bytes; use fewer streams",
        ""};
  }
  layout.unique = Bytes(*end);
  layout.total = Bytes(*total);
  return layout;
}

}  // namespace lowtide
