// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/analysis/view_table.h"

#include <set>

namespace lowtide {
namespace {

bool is_output(const Graph& graph, TensorId id) { return graph.tensor(id).role == Role::output; }

// Returns the views of a concat, including those that no plan can use.
std::vector<TableView> operands_of_concat(const Graph& graph, const std::vector<View>& views, BoundScope scope) {
  std::vector<TableView> operands;
  std::set<TensorId> seen;
  for (const View& view : views) {
    const bool is_external = !graph.tensor(view.part).producer;
    const bool are_outputs =
        scope != BoundScope::all_plans && is_output(graph, view.part) && is_output(graph, view.whole);
    const bool is_repeated = !seen.insert(view.part).second;
    operands.push_back({view, is_external || are_outputs || is_repeated, is_repeated});
  }
  return operands;
}

// Returns the views of any other node, either all of them or none.
std::vector<TableView> other_views(const Graph& graph, const std::vector<View>& views, BoundScope scope) {
  std::vector<TableView> table;
  for (const View& view : views) {
    const bool stays = !graph.tensor(view.whole).producer || is_output(graph, view.whole);
    if (scope != BoundScope::all_plans && is_output(graph, view.part) && stays) return {};
    table.push_back({view});
  }
  return table;
}

}  // namespace

ViewTable::ViewTable(const Graph& graph, const ChosenKernels& kernels, BoundScope scope)
    : is_partial_(graph.nodes().size()), is_concat_(graph.nodes().size()) {
  begin_.reserve(graph.nodes().size() + 1);
  begin_.push_back(0);
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    const ViewKind kind = graph.op(id).traits.view;
    if (is_partial_view(kind)) is_partial_.set(id);
    if (kind == ViewKind::concat) is_concat_.set(id);
    if (kind != ViewKind::none && kernels[id].may_alias_views) {
      const std::vector<View> views = views_of(graph, id);
      const std::vector<TableView> possible =
          kind == ViewKind::concat ? operands_of_concat(graph, views, scope) : other_views(graph, views, scope);
      views_.insert(views_.end(), possible.begin(), possible.end());
    }
    begin_.push_back(static_cast<std::uint32_t>(views_.size()));
  }
}

bool may_be_alias(const Graph& graph, NodeId node, const Kernel& kernel) {
  return kernel.may_alias_views && !views_of(graph, node).empty();
}

}  // namespace lowtide
