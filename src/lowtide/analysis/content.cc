// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/analysis/content.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "lowtide/analysis/views.h"
#include "lowtide/base/disjoint_sets.h"
#include "lowtide/base/flags.h"

namespace lowtide {
Content::Content(const Graph& graph, const ChosenKernels& kernels, const ContentOptions& options)
    : graph_(graph),
      alignment_(options.alignment),
      scope_(options.scope),
      left_(options.limits),
      is_rounded_(graph.tensors().size(), true),
      segments_(graph.tensors().size()),
      is_brought_(graph.tensors().size()),
      is_in_state_(graph.tensors().size()),
      has_copy_(graph.tensors().size()) {
  const ViewTable views(graph, kernels, scope_);
  find_rounded(views, kernels);
  Flags<TensorId> is_in_arena(graph.tensors().size(), true);
  for (TensorId id : all_ids<TensorId>(graph.tensors().size())) {
    const Tensor& tensor = graph.tensor(id);
    const bool is_placed = options.inputs_in_arena && tensor.role == Role::input && !tensor.is_captured;
    if (!tensor.producer) add_source(id, !is_placed);
    if (!tensor.producer && !is_placed) is_in_arena.reset(id);
  }
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) fill(views, id);
  find_movable(views);

  std::vector<std::vector<Held>> held(sources_.size());
  for (TensorId id : all_ids<TensorId>(graph.tensors().size())) {
    if (!is_in_arena.test(id) || is_in_state_.test(id) || stays_outside(id)) continue;
    for (const Segment& one : segments_[id]) {
      held[one.source].push_back({{one.begin, one.begin + one.length}, {id, one.length}});
    }
  }
  for (std::size_t at = 0; at < sources_.size(); ++at) {
    if (!held[at].empty()) divide(sources_[at], held[at]);
  }
  for (const std::vector<Holder>& holders : pieces_) holder_count_ += static_cast<std::int64_t>(holders.size());
}

void Content::add_source(TensorId id, bool is_outside) {
  const std::int64_t size = graph_.tensor(id).size.count();
  if (size == 0) return;
  segments_[id] = {{.source = static_cast<std::uint32_t>(sources_.size()), .begin = 0, .length = size, .at = 0}};
  sources_.push_back({.tensor = id, .size = size, .is_outside = is_outside});
}

// Nodes are visited in topological order, so the content of the viewed tensor is known before that of the view.
void Content::fill(const ViewTable& views, NodeId id) {
  for (const TableView& view : views.of(id)) {
    if (views.is_concat(id)) {
      hold_part(view);
    } else {
      hold_view(view, !views.is_partial(id));
    }
  }
  for (const std::optional<TensorId>& output : graph_.node(id).outputs) {
    if (!output) continue;
    if (views.of(id).empty()) {
      add_source(*output, false);
    } else if (!stays_outside(*output)) {
      bring_in(*output);
    }
  }
}

// Counts the copies of operands, except those of bytes outside the arena, which bring_in() counts.
void Content::hold_part(const TableView& view) {
  const std::vector<Segment>& part = segments_[view.part];
  const bool is_outside = std::any_of(part.begin(), part.end(),
                                      [&](const Segment& segment) { return sources_[segment.source].is_outside; });
  const bool is_input = !graph_.tensor(view.part).producer;
  if (is_outside || !view.must_copy || (!is_input && !view.is_repeated)) {
    for (Segment segment : part) {
      segment.at += view.offset.count();
      add_segment(view.whole, segment);
    }
  }
  const std::int64_t size = graph_.tensor(view.part).size.count();
  // If an input is the whole concat, both may be the same bytes.
  const bool has_copy = view.must_copy && (!is_input || size < graph_.tensor(view.whole).size.count());
  if (!has_copy || is_outside || size == 0 || !has_copy_.insert(view.part)) return;
  add_segment(view.whole, {.source = static_cast<std::uint32_t>(sources_.size()),
                           .length = size,
                           .at = is_input ? view.offset.count() : kSomewhere});
  sources_.push_back({.tensor = view.whole, .size = size});
}

void Content::hold_view(const View& view, bool is_whole) {
  const Interval<std::int64_t> part{view.offset.count(), view.offset.count() + graph_.tensor(view.part).size.count()};
  for (const Segment& segment : segments_[view.whole]) {
    const std::int64_t begin = is_whole ? segment.at : std::max(segment.at, part.begin);
    const std::int64_t end = is_whole ? segment.at + segment.length : std::min(segment.at + segment.length, part.end);
    if (begin >= end) continue;
    add_segment(view.part, {segment.source, segment.begin + begin - segment.at, end - begin, begin - part.begin});
  }
}

// Extends the last segment if the new one continues it.
void Content::add_segment(TensorId id, const Segment& segment) {
  std::vector<Segment>& segments = segments_[id];
  if (!segments.empty()) {
    Segment& last = segments.back();
    if (last.source == segment.source && last.begin + last.length == segment.begin &&
        last.at + last.length == segment.at) {
      last.length += segment.length;
      return;
    }
  }
  if (segments.size() >= left_.segments_of_one) {
    if (left_.further == 0) return;
    --left_.further;
  }
  segments.push_back(segment);
}

// Whether the tensor is a contiguous part of one input or constant, and is not an output with a place of its own.
bool Content::stays_outside(TensorId id) const {
  const std::vector<Segment>& segments = segments_[id];
  if (segments.size() != 1 || !sources_[segments[0].source].is_outside) return false;
  return segments[0].length == graph_.tensor(id).size.count() && !keeps_its_place(id);
}

void Content::bring_in(TensorId id) {
  std::vector<TensorId> roots;  // this tensor is the first to bring them into the arena
  for (Segment& segment : segments_[id]) {
    if (!sources_[segment.source].is_outside) continue;
    const TensorId root = sources_[segment.source].tensor;
    const bool is_first = is_brought_.insert(root);
    if (is_first) roots.push_back(root);
    if (!is_first && std::find(roots.begin(), roots.end(), root) == roots.end()) {
      segment.length = 0;
      continue;
    }
    sources_.push_back({.tensor = id, .size = segment.length});
    segment.source = static_cast<std::uint32_t>(sources_.size() - 1);
    segment.begin = 0;
  }
  std::erase_if(segments_[id], [](const Segment& segment) { return segment.length == 0; });
}

void Content::find_movable(const ViewTable& views) {
  if (graph_.state_updates().empty()) return;
  DisjointSets<TensorId> groups(graph_.tensors().size());
  for (NodeId id : all_ids<NodeId>(graph_.nodes().size())) {
    for (const TableView& view : views.of(id)) groups.join(view.part, view.whole);
  }
  IdVector<TensorId, Bytes> largest(graph_.tensors().size());  // next content of a state, by group
  for (const StateUpdate& update : graph_.state_updates()) {
    Bytes& size = largest[groups.find(update.next)];
    size = std::max(size, graph_.tensor(update.next).size);
  }
  for (TensorId id : all_ids<TensorId>(graph_.tensors().size())) {
    const Tensor& tensor = graph_.tensor(id);
    if (!keeps_its_place(id) && tensor.size <= largest[groups.find(id)]) is_in_state_.set(id);
  }
}

// Divides a source into pieces. Runs with the same holders are one piece.
void Content::divide(const Source& source, const std::vector<Held>& held) {
  std::vector<std::int64_t> cuts;
  for (const Held& one : held) cuts.insert(cuts.end(), {one.bytes.begin, one.bytes.end});
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  const auto place = [&](std::int64_t byte) {
    return static_cast<std::size_t>(std::lower_bound(cuts.begin(), cuts.end(), byte) - cuts.begin());
  };
  std::int64_t more = 0;     // entries of the tensors in pieces, beyond the first of each
  std::int64_t touched = 0;  // the same, summed over the nodes that read or write the tensor
  for (const Held& one : held) {
    const auto runs = static_cast<std::int64_t>(place(one.bytes.end) - place(one.bytes.begin));
    more += runs - 1;
    touched += (runs - 1) * static_cast<std::int64_t>(graph_.readers(one.holder.tensor).size() + 1);
  }
  if (more > left_.further || touched > left_.touched) return keep_whole(held);
  left_.further -= more;
  left_.touched -= touched;
  // A tensor that holds a run twice is one holder of it.
  std::vector<std::vector<std::uint32_t>> holders(cuts.size());  // of each run, as indices into `held`
  for (std::uint32_t at = 0; at < held.size(); ++at) {
    for (std::size_t run = place(held[at].bytes.begin); run < place(held[at].bytes.end); ++run) {
      const bool is_new = holders[run].empty() || held[holders[run].back()].holder.tensor != held[at].holder.tensor;
      if (is_new) holders[run].push_back(at);
    }
  }
  std::map<std::vector<std::uint32_t>, std::int64_t> pieces;
  for (std::size_t run = 0; run + 1 < cuts.size(); ++run) {
    if (!holders[run].empty()) pieces[holders[run]] += cuts[run + 1] - cuts[run];
  }
  for (const auto& [indices, bytes] : pieces) {
    const bool is_rounded = is_rounded_.test(source.tensor) && bytes == source.size;
    std::vector<Holder>& piece = pieces_.emplace_back();
    for (std::uint32_t at : indices) {
      piece.push_back(held[at].holder);
      piece.back().bytes = is_rounded ? round_up(Bytes(bytes), alignment_).count() : bytes;
    }
  }
}

// A tensor may repeat bytes of the source. They count once, because until a node makes the tensor, one copy is enough.
void Content::keep_whole(std::vector<Held> held) {
  std::sort(held.begin(), held.end(), [](const Held& a, const Held& b) {
    return std::pair(a.holder.tensor, a.bytes.begin) < std::pair(b.holder.tensor, b.bytes.begin);
  });
  std::vector<Holder>& piece = pieces_.emplace_back();
  std::int64_t end = 0;  // of the bytes of the last tensor that are counted
  for (const Held& one : held) {
    if (piece.empty() || piece.back().tensor != one.holder.tensor) {
      piece.push_back({one.holder.tensor, 0});
      end = 0;
    }
    const std::int64_t begin = std::max(one.bytes.begin, end);
    piece.back().bytes += std::max<std::int64_t>(one.bytes.end - begin, 0);
    end = std::max(end, one.bytes.end);
  }
  std::stable_sort(piece.begin(), piece.end(), [](const Holder& a, const Holder& b) { return a.bytes > b.bytes; });
}

// Finds the tensors whose sizes are rounded up. A buffer can hold several tensors at once only because of a slice,
// split or concat. Every tensor that may be in such a buffer, also by a write in place, counts at its plain size.
// Slices that cannot be parts of the tensor itself may still be parts of a copy of it.
void Content::find_rounded(const ViewTable& views, const ChosenKernels& kernels) {
  DisjointSets<TensorId> groups(graph_.tensors().size());  // tensors that may be in one buffer, in some plan
  std::vector<TensorId> with_parts;
  for (NodeId id : all_ids<NodeId>(graph_.nodes().size())) {
    for (const TableView& view : views.of(id)) {
      if (!view.must_copy) groups.join(view.part, view.whole);
      if (views.is_partial(id)) with_parts.push_back(view.whole);
    }
    if (views.of(id).empty() && may_be_alias(graph_, id, kernels[id])) {
      for (const std::optional<TensorId>& part : graph_.node(id).outputs) {
        if (!part || !is_partial_view(graph_.op(id).traits.view)) continue;
        with_parts.push_back(*part);
      }
    }
    const Node& node = graph_.node(id);
    for (const auto& [input, output] : kernels[id].in_place) {
      groups.join(*node.inputs[static_cast<std::size_t>(input)], *node.outputs[static_cast<std::size_t>(output)]);
    }
  }
  Flags<TensorId> has_parts(graph_.tensors().size());
  for (TensorId id : with_parts) has_parts.set(groups.find(id));
  for (TensorId id : all_ids<TensorId>(graph_.tensors().size())) {
    if (has_parts.test(groups.find(id))) is_rounded_.reset(id);
  }
}

}  // namespace lowtide
