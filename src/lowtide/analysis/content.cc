// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/analysis/content.h"

#include <algorithm>
#include <utility>

#include "lowtide/analysis/views.h"
#include "lowtide/base/disjoint_sets.h"

namespace lowtide::detail {
namespace {

bool is_whole(ViewKind kind) { return kind == ViewKind::whole || kind == ViewKind::expand; }

}  // namespace

std::vector<View> possible_views(const Graph& graph, NodeId id) {
  if (graph.op(id).traits.view == ViewKind::none) return {};
  std::vector<View> views = views_of(graph, id);
  for (const View& view : views) {
    const Tensor& part = graph.tensor(view.part);
    const Tensor& whole = graph.tensor(view.whole);
    const bool is_handed_out = part.role == Role::output && (!whole.producer || whole.role == Role::output);
    if (!part.producer || is_handed_out) return {};
  }
  return views;
}

Content::Content(const Graph& graph, const ChosenKernels& kernels, Bytes alignment, bool inputs_take_room)
    : graph_(graph),
      alignment_(alignment),
      is_rounded_(graph.tensors().size(), 1),
      outside_(graph.tensors().size()),
      parts_(graph.tensors().size()) {
  find_rounded(kernels);
  for (TensorId id : all_ids<TensorId>(graph.tensors().size())) {
    const Tensor& tensor = graph.tensor(id);
    if (inputs_take_room && tensor.role == Role::input && !tensor.is_captured) {
      add_origin(id);
    } else if (!tensor.producer) {
      outside_[id] = Outside{id};
    }
  }
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) hold_views(id);
  for (TensorId id : all_ids<TensorId>(graph.tensors().size())) {
    if (outside_[id]) continue;
    for (const Part& part : parts_[id]) origins_[part.origin].push_back({id, part.bytes});
    holdings_ += static_cast<std::int64_t>(parts_[id].size());
  }
  for (std::vector<Holding>& holders : origins_) {
    std::stable_sort(holders.begin(), holders.end(),
                     [](const Holding& a, const Holding& b) { return a.bytes > b.bytes; });
  }
}

void Content::add_origin(TensorId id) {
  const Bytes size = graph_.tensor(id).size;
  parts_[id].push_back({static_cast<std::uint32_t>(origins_.size()),
                        (is_rounded_[id] != 0 ? round_up(size, alignment_) : size).count()});
  origins_.emplace_back();
}

void Content::add_part(std::vector<Part>& parts, Part part) {
  if (parts.size() >= kMostHoldingsOfOne) {
    if (further_left_ == 0) return;
    --further_left_;
  }
  parts.push_back(part);
}

// Nodes come in topological order, so what a view holds is known from what it is a view of.
void Content::hold_views(NodeId id) {
  const ViewKind kind = graph_.op(id).traits.view;
  const std::vector<View> views = possible_views(graph_, id);
  for (const View& view : views) hold_view(kind, view);
  if (!views.empty()) {
    if (kind == ViewKind::concat) outside_[views[0].whole] = outside_of_concat(views);
    return;
  }
  for (const std::optional<TensorId>& output : graph_.node(id).outputs) {
    if (output) add_origin(*output);
  }
}

void Content::hold_view(ViewKind kind, const View& view) {
  if (kind == ViewKind::concat) {
    for (const Part& part : parts_[view.part]) add_part(parts_[view.whole], part);
    return;
  }
  // What is handed out cannot stay outside.
  if (outside_[view.whole] && graph_.tensor(view.part).role != Role::output) {
    outside_[view.part] = Outside{outside_[view.whole]->root, outside_[view.whole]->offset + view.offset.count()};
  }
  if (outside_[view.whole] && outside_[view.whole]->root == view.whole) {
    add_origin(view.part);
  } else if (is_whole(kind)) {
    for (const Part& part : parts_[view.whole]) add_part(parts_[view.part], part);
  } else if (parts_[view.whole].size() == 1) {
    const Part& whole = parts_[view.whole][0];
    parts_[view.part] = {{whole.origin, std::min(whole.bytes, graph_.tensor(view.part).size.count())}};
  }
}

// Where the parts lie one after the other already; nothing if they do not.
std::optional<Content::Outside> Content::outside_of_concat(const std::vector<View>& views) const {
  const std::optional<Outside>& first = outside_[views[0].part];
  if (!first || graph_.tensor(views[0].whole).role == Role::output) return std::nullopt;
  const std::int64_t begin = first->offset - views[0].offset.count();
  for (const View& view : views) {
    const std::optional<Outside>& part = outside_[view.part];
    if (!part || part->root != first->root || part->offset != begin + view.offset.count()) return std::nullopt;
  }
  return Outside{first->root, begin};
}

// A buffer holds several tensors at once only through a slice, split or concat; everything that can come into such a
// buffer, also by in-place writes, counts at its plain size.
void Content::find_rounded(const ChosenKernels& kernels) {
  DisjointSets<TensorId> groups(graph_.tensors().size());  // what may come to lie in one buffer, whoever decides
  std::vector<TensorId> with_parts;
  for (NodeId id : all_ids<NodeId>(graph_.nodes().size())) {
    for (const View& view : possible_views(graph_, id)) {
      groups.join(view.part, view.whole);
      if (!is_whole(graph_.op(id).traits.view)) with_parts.push_back(view.whole);
    }
    const Node& node = graph_.node(id);
    for (const auto& [input, output] : kernels[id].in_place) {
      groups.join(*node.inputs[static_cast<std::size_t>(input)], *node.outputs[static_cast<std::size_t>(output)]);
    }
  }
  IdVector<TensorId, char> has_parts(graph_.tensors().size(), 0);
  for (TensorId id : with_parts) has_parts[groups.find(id)] = 1;
  for (TensorId id : all_ids<TensorId>(graph_.tensors().size()))
    is_rounded_[id] = has_parts[groups.find(id)] != 0 ? 0 : 1;
}

}  // namespace lowtide::detail
