// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/share/alias_forest.h"

#include <algorithm>
#include <set>
#include <utility>

#include "lowtide/graph/lowered.h"

namespace lowtide::share_internal {

AliasForest::AliasForest(const Graph& graph, const IdVector<NodeId, std::uint32_t>& position)
    : parent_(graph.tensors().size()),
      offset_(graph.tensors().size(), 0),
      roots_(graph.tensors().size()),
      next_(graph.tensors().size()),
      examinations_left_(most_examined(graph)) {
  const auto steps = static_cast<std::uint32_t>(graph.nodes().size());
  for (TensorId id : all_ids<TensorId>(graph.tensors().size())) {
    const Tensor& tensor = graph.tensor(id);
    parent_[id] = id;
    next_[id] = id;
    Root& root = roots_[id];
    root.kind = buffer_kind_of(tensor.role);
    root.size = tensor.size.count();
    root.is_external = !tensor.producer.has_value();
    root.is_given = tensor.producer && is_caller(graph.op(*tensor.producer));
    root.begin = tensor.producer ? position[*tensor.producer] : 0;
    root.end = root.begin + 1;
    for (NodeId reader : graph.readers(id)) root.end = std::max(root.end, position[reader] + 1);
    root.is_kept = tensor.producer && graph.is_needed_at_end(id);
    if (root.is_external || root.is_kept) root.end = steps;
  }
}

AliasForest::Place AliasForest::find(TensorId tensor) {
  TensorId root = tensor;
  std::int64_t total = 0;
  while (parent_[root] != root) {
    total += offset_[root];
    root = parent_[root];
  }
  const Place place{root, total};
  while (parent_[tensor] != root && tensor != root) {
    const TensorId next = parent_[tensor];
    const std::int64_t step = offset_[tensor];
    parent_[tensor] = root;
    offset_[tensor] = total;
    total -= step;
    tensor = next;
  }
  return place;
}

void AliasForest::attach(TensorId part, TensorId whole, std::int64_t offset) {
  Root& above = roots_[whole];
  const Root& below = roots_[part];
  LOWTIDE_CHECK(part != whole && offset >= 0 && offset + below.size <= above.size, "a part lies inside its whole");
  parent_[part] = whole;
  offset_[part] = offset;
  std::swap(next_[part], next_[whole]);  // joins the two rings
  above.begin = std::min(above.begin, below.begin);
  above.end = std::max(above.end, below.end);
  if (below.kind == BufferKind::output) above.kind = BufferKind::output;
  above.is_kept = above.is_kept || below.is_kept;
  above.is_given = above.is_given || below.is_given;
}

// Whether some of the bytes at a place hold a tensor that is needed at the end. Returns true if the limit is reached.
bool AliasForest::holds_kept(const Graph& graph, const Place& place, std::int64_t size) {
  if (!roots_[place.root].is_kept) return false;
  bool is_found = false;
  for_each_member(place.root, [&](TensorId member) {
    const std::int64_t begin = find(member).offset;
    const bool overlaps = begin < place.offset + size && place.offset < begin + graph.tensor(member).size.count();
    is_found = --examinations_left_ < 0 || (overlaps && graph.is_needed_at_end(member));
    return !is_found;
  });
  return is_found;
}

bool AliasForest::may_attach(const Graph& graph, const View& view, const Place& part, const Place& whole) {
  const Root& below = roots_[part.root];
  const Root& above = roots_[whole.root];
  if (part.root == whole.root || below.is_external || (above.is_external && below.is_given)) return false;
  // A set moves as a whole, so the part must be all of its set.
  if (part.offset != 0 || below.size != graph.tensor(view.part).size.count()) return false;
  if (!below.is_kept) return true;
  return !above.is_external && !holds_kept(graph, {whole.root, whole.offset + view.offset.count()}, below.size);
}

// Whether all of the set of `whole` can move into the memory outside the arena that the view is written to. Only the
// next content of a state is written there.
bool AliasForest::may_become(const Graph& graph, const View& view, const Place& part, const Place& whole) {
  const Root& source = roots_[whole.root];
  return roots_[part.root].is_external && part.root != whole.root && !source.is_external && !source.is_kept &&
         !source.is_given && view.offset == Bytes(0) && whole.offset == 0 &&
         source.size == graph.tensor(view.part).size.count();
}

// If the operands of a concat are already consecutive, the concat is their bytes. For example, they may be the first
// operands of a larger concat, or consecutive slices of a constant.
std::optional<AliasForest::Join> AliasForest::plan_join_inside(const Graph& graph, std::span<const TableView> views) {
  const Place first = find(views[0].part);
  const Place result = find(views[0].whole);
  const Root& whole = roots_[result.root];
  if (first.root == result.root || whole.is_external || result.offset != 0 ||
      whole.size != graph.tensor(views[0].whole).size.count())
    return std::nullopt;
  for (const View& view : views) {
    const Place place = find(view.part);
    if (place.root != first.root || place.offset - first.offset != view.offset.count()) return std::nullopt;
  }
  const Root& around = roots_[first.root];
  if (whole.is_kept && (around.is_external || holds_kept(graph, first, whole.size))) return std::nullopt;
  return Join{result.root, first.root, first.offset};
}

std::optional<AliasForest::Joins> AliasForest::plan_joins(const Graph& graph, std::span<const TableView> views,
                                                          bool is_concat) {
  if (const std::optional<Join> inside = is_concat ? plan_join_inside(graph, views) : std::nullopt) {
    return Joins{.joins = {*inside}};
  }
  Joins plan;
  std::set<TensorId> parts;  // a set has one place, but two operands of a concat may be in one set
  for (const View& view : views) {
    // An operand without bytes needs no place in the result. If the result is an input of the model, it must have none,
    // because the node that makes the operand would write into the input.
    if (is_concat && graph.tensor(view.part).size == Bytes(0)) continue;
    const Place part = find(view.part);
    const Place whole = find(view.whole);
    if (may_become(graph, view, part, whole)) {
      plan.joins.push_back({whole.root, part.root, part.offset});
    } else if (may_attach(graph, view, part, whole) && parts.insert(part.root).second) {
      plan.joins.push_back({part.root, whole.root, whole.offset + view.offset.count()});
    } else if (is_concat) {
      plan.has_copies = true;
    } else {
      return std::nullopt;
    }
  }
  return plan.joins.empty() ? std::nullopt : std::optional(std::move(plan));
}

}  // namespace lowtide::share_internal
