// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/share/alias_classes.h"

#include <algorithm>
#include <map>
#include <utility>

#include "lowtide/analysis/views.h"
#include "lowtide/base/range_max.h"
#include "lowtide/share/alias_forest.h"
#include "lowtide/share/class_parts.h"
#include "lowtide/share/load.h"

namespace lowtide {
namespace {

using share_internal::AliasForest;

// How many tensors the rule of in-place results may look at.
constexpr std::int64_t kLooksPerTensor = 32;
constexpr std::int64_t kFurtherLooks = 1'000'000;

// A node whose views cover only a part of a tensor: joining them may lift the load.
struct PartialView {
  NodeId node;
  std::vector<View> views;
};

// One way to decide all aliases, on the way to AliasClasses.
struct Candidate {
  AliasForest forest;
  IdVector<NodeId, StepKind> step_kinds;
};

class Decision {
 public:
  Decision(const Graph& graph, const ChosenKernels& kernels, const std::vector<NodeId>& order,
           const AliasOptions& options)
      : graph_(graph),
        kernels_(kernels),
        order_(order),
        options_(options),
        position_(graph.nodes().size()),
        is_to_copy_(graph.nodes().size(), 0) {
    for (NodeId id : options.copies) is_to_copy_[id] = 1;
    for (std::size_t step = 0; step < order.size(); ++step) position_[order[step]] = static_cast<std::uint32_t>(step);
    const AliasForest alone(graph_, position_);
    own_.reserve(graph.tensors().size());
    for (TensorId id : all_ids<TensorId>(graph.tensors().size())) {
      own_.push_back({StepId(alone.root(id).begin), StepId(alone.root(id).end)});
    }
  }

  AliasClasses decide() {
    Candidate base{AliasForest(graph_, position_),
                   IdVector<NodeId, StepKind>(graph_.nodes().size(), StepKind::compute)};
    join_whole_views(base);
    AliasClasses none = finish(join_all(base, false));
    if (partial_.empty()) return none;
    AliasClasses best = finish(join_all(base, true));
    std::vector<Bytes> profile = load_profile(none, kernels_, order_, options_);
    Bytes best_load = largest(load_profile(best, kernels_, order_, options_));
    const Bytes none_load = largest(profile);
    keep_lower(best, best_load, one_by_one(base, profile, std::min(best_load, none_load)));
    keep_lower(best, best_load, std::move(none));
    return best;
  }

 private:
  [[nodiscard]] std::int64_t rounded(std::int64_t size) const {
    return round_up(Bytes(size), options_.alignment).count();
  }

  void join(Candidate& candidate, NodeId node, const std::vector<AliasForest::Join>& joins) {
    for (const AliasForest::Join& one : joins) candidate.forest.hang(one.part, one.whole, one.offset);
    candidate.step_kinds[node] = StepKind::alias;
  }

  // Whole views, and partial ones of what is not in the arena: these only take bytes away.
  void join_whole_views(Candidate& candidate) {
    if (!options_.views) return;
    for (NodeId id : all_ids<NodeId>(graph_.nodes().size())) {
      if (graph_.op(id).traits.view == ViewKind::none || !kernels_[id].may_alias_views) continue;
      std::vector<View> views = views_of(graph_, id);
      if (views.empty()) continue;
      const ViewKind kind = graph_.op(id).traits.view;
      const bool is_of_external =
          kind != ViewKind::concat && candidate.forest.root(candidate.forest.find(views[0].whole).root).is_external;
      if (is_whole_view(kind) || is_of_external) {
        if (const auto joins = candidate.forest.plan_joins(graph_, views)) join(candidate, id, *joins);
      } else if (is_to_copy_[id] == 0) {
        partial_.push_back({id, std::move(views)});
      }
    }
    // Concats first and the last one first: it gathers most, and an earlier concat of some of its parts may then lie
    // in it. (Concats of ever more of the same tensors are what dense networks consist of.)
    std::stable_partition(partial_.begin(), partial_.end(),
                          [&](const PartialView& view) { return is_concat(view.node); });
    const auto others = std::find_if_not(partial_.begin(), partial_.end(),
                                         [&](const PartialView& view) { return is_concat(view.node); });
    std::reverse(partial_.begin(), others);
  }

  [[nodiscard]] bool is_concat(NodeId id) const { return graph_.op(id).traits.view == ViewKind::concat; }

  Candidate join_all(const Candidate& base, bool partial_too) {
    Candidate candidate = base;
    for (const PartialView& view : partial_) {
      const auto joins = partial_too ? candidate.forest.plan_joins(graph_, view.views) : std::nullopt;
      if (joins) join(candidate, view.node, *joins);
    }
    return candidate;
  }

  // Joins where nowhere the load rises above `limit`. The profile is that of no partial joins, changed as they are
  // made; in-place merges shift it a little, so the result is measured again by the caller.
  AliasClasses one_by_one(const Candidate& base, const std::vector<Bytes>& profile, Bytes limit) {
    std::vector<std::int64_t> row;
    row.reserve(profile.size());
    for (Bytes load : profile) row.push_back(load.count());
    RangeMax load(row);
    Candidate candidate = base;
    for (const PartialView& view : partial_) {
      const auto joins = candidate.forest.plan_joins(graph_, view.views);
      if (joins && raise_stays_below(candidate.forest, *joins, load, limit)) join(candidate, view.node, *joins);
    }
    return finish(std::move(candidate));
  }

  // The change of load over the steps by a join, as pieces between the moments where one of the sets begins or ends.
  // Applies it to `load` and says yes, or leaves it alone.
  bool raise_stays_below(AliasForest& forest, const std::vector<AliasForest::Join>& joins, RangeMax& load,
                         Bytes limit) const {
    std::map<std::uint32_t, std::int64_t> change;
    const AliasForest::Root& whole = forest.root(joins[0].whole);
    std::uint32_t begin = whole.begin;
    std::uint32_t end = whole.end;
    const auto remove = [&](const AliasForest::Root& root) {
      change[root.begin] -= rounded(root.size);
      change[root.end] += rounded(root.size);
    };
    remove(whole);
    for (const AliasForest::Join& join : joins) {
      const AliasForest::Root& part = forest.root(join.part);
      remove(part);
      begin = std::min(begin, part.begin);
      end = std::max(end, part.end);
    }
    change[begin] += rounded(whole.size);
    change[end] -= rounded(whole.size);
    std::int64_t delta = 0;
    for (auto at = change.begin(); std::next(at) != change.end(); ++at) {
      delta += at->second;
      if (delta > 0 && load.most(at->first, std::next(at)->first) + delta > limit.count()) return false;
    }
    delta = 0;
    for (auto at = change.begin(); std::next(at) != change.end(); ++at) {
      delta += at->second;
      load.add(at->first, std::next(at)->first, delta);
    }
    return true;
  }

  void keep_lower(AliasClasses& best, Bytes& best_load, AliasClasses other) const {
    const Bytes load = largest(load_profile(other, kernels_, order_, options_));
    if (load < best_load) {
      best = std::move(other);
      best_load = load;
    }
  }

  // The bytes of an input, as they are looked at by a node that may overwrite them.
  struct Overwriting {
    NodeId node;
    std::pair<int, int> pair;  // of Kernel::in_place
    TensorId root;             // of the input's set
    Interval<std::int64_t> bytes;
    std::uint32_t step = 0;
  };

  // No other input of the node may lie in the bytes that are overwritten, but as the same elements.
  bool has_only_permitted_inputs(AliasForest& forest, const Overwriting& what) const {
    const Node& node = graph_.node(what.node);
    const std::vector<std::pair<int, int>>& permitted = kernels_[what.node].in_place;
    for (std::size_t at = 0; at < node.inputs.size(); ++at) {
      if (!node.inputs[at]) continue;
      const AliasForest::Place place = forest.find(*node.inputs[at]);
      if (place.root != what.root) continue;
      const Interval<std::int64_t> bytes{place.offset, place.offset + graph_.tensor(*node.inputs[at]).size.count()};
      if (!bytes.overlaps(what.bytes)) continue;
      const std::pair pair(static_cast<int>(at), what.pair.second);
      if (bytes != what.bytes || std::find(permitted.begin(), permitted.end(), pair) == permitted.end()) return false;
    }
    return node.bodies.empty();
  }

  // Nobody needs these bytes after the step. Looks at every tensor of the set; no more, once too many were looked at.
  bool dies(AliasForest& forest, const Overwriting& what, std::int64_t& looks) const {
    const std::int64_t most = kLooksPerTensor * static_cast<std::int64_t>(graph_.tensors().size()) + kFurtherLooks;
    bool is_free = true;
    forest.for_each_member(what.root, [&](TensorId member) {
      const std::int64_t begin = forest.find(member).offset;
      const Interval<std::int64_t> bytes{begin, begin + graph_.tensor(member).size.count()};
      const bool is_needed = own_[member].end.value() > what.step + 1 || graph_.is_needed_at_end(member);
      if (++looks > most || (is_needed && bytes.overlaps(what.bytes))) is_free = false;
      return is_free;
    });
    return is_free;
  }

  bool take_over(AliasForest& forest, NodeId id, const std::pair<int, int>& pair, std::uint32_t step,
                 std::int64_t& looks) const {
    const Node& node = graph_.node(id);
    const TensorId input = *node.inputs[static_cast<std::size_t>(pair.first)];
    const TensorId output = *node.outputs[static_cast<std::size_t>(pair.second)];
    const AliasForest::Place from = forest.find(input);
    const AliasForest::Place to = forest.find(output);
    if (from.root == to.root) return false;
    const AliasForest::Root& dying = forest.root(from.root);
    const AliasForest::Root& result = forest.root(to.root);
    const std::int64_t size = graph_.tensor(output).size.count();
    if (dying.is_external || graph_.tensor(input).size.count() != size) return false;
    const Overwriting what{id, pair, from.root, {from.offset, from.offset + size}, step};
    if (dying.size == size && !dying.is_kept && dying.end == step + 1) {
      if (!has_only_permitted_inputs(forest, what)) return false;
      const bool result_begins_here = result.begin == step && result.size == size && to.offset == 0;
      // Without parts it would keep a larger buffer for longer.
      if (!options_.parts && !result_begins_here && dying.begin < result.begin) return false;
      forest.hang(from.root, to.root, to.offset);
      return true;
    }
    if (!options_.parts || dying.size == size || result.size != size || size == 0) return false;
    if (result.is_kept && dying.is_kept) return false;
    if (!has_only_permitted_inputs(forest, what) || !dies(forest, what, looks)) return false;
    forest.hang(to.root, from.root, from.offset);
    return true;
  }

  AliasClasses finish(Candidate candidate) const {
    AliasForest& forest = candidate.forest;
    std::int64_t looks = 0;
    if (options_.in_place) {
      for (std::size_t step = 0; step < order_.size(); ++step) {
        const NodeId id = order_[step];
        if (candidate.step_kinds[id] == StepKind::alias) continue;
        for (const std::pair<int, int>& pair : kernels_[id].in_place) {
          if (take_over(forest, id, pair, static_cast<std::uint32_t>(step), looks)) break;
        }
      }
    }
    AliasClasses out;
    const std::size_t count = graph_.tensors().size();
    out.step_kinds = std::move(candidate.step_kinds);
    out.class_of = IdVector<TensorId, AliasClassId>(count);
    out.offset_in_class = IdVector<TensorId, Offset>(count);
    IdVector<TensorId, std::optional<AliasClassId>> class_of_root(count);
    for (TensorId id : all_ids<TensorId>(count)) {
      const AliasForest::Place place = forest.find(id);
      if (!class_of_root[place.root]) {
        const AliasForest::Root& root = forest.root(place.root);
        class_of_root[place.root] = out.classes.push_back({.kind = root.kind,
                                                           .size = Bytes(root.size),
                                                           .lifespan = {StepId(root.begin), StepId(root.end)},
                                                           .is_kept = root.is_kept || root.is_external,
                                                           .is_captured = graph_.tensor(place.root).is_captured});
      }
      out.class_of[id] = *class_of_root[place.root];
      out.offset_in_class[id] = Offset(place.offset);
    }
    if (options_.parts && !order_.empty()) divide(out);
    return out;
  }

  // Finds the parts of classes that hold tensors of different sizes.
  void divide(AliasClasses& out) const {
    IdVector<AliasClassId, std::vector<share_internal::Cover>> covers(out.classes.size());
    IdVector<AliasClassId, char> has_smaller(out.classes.size(), 0);
    for (TensorId id : all_ids<TensorId>(graph_.tensors().size())) {
      const AliasClassId in = out.class_of[id];
      if (is_placed(out.classes[in].kind) && graph_.tensor(id).size < out.classes[in].size) has_smaller[in] = 1;
    }
    for (TensorId id : all_ids<TensorId>(graph_.tensors().size())) {
      const AliasClassId in = out.class_of[id];
      if (has_smaller[in] == 0) continue;
      const std::int64_t begin = out.offset_in_class[id].position();
      covers[in].push_back({{begin, begin + graph_.tensor(id).size.count()}, own_[id]});
    }
    for (AliasClassId id : all_ids<AliasClassId>(out.classes.size())) {
      if (has_smaller[id] != 0)
        out.classes[id].parts = share_internal::class_parts(covers[id], out.classes[id].size, options_.alignment);
    }
  }

  const Graph& graph_;
  const ChosenKernels& kernels_;
  const std::vector<NodeId>& order_;
  const AliasOptions& options_;
  IdVector<NodeId, std::uint32_t> position_;
  IdVector<NodeId, char> is_to_copy_;
  IdVector<TensorId, Lifespan> own_;  // of each tensor for itself
  std::vector<PartialView> partial_;
};

}  // namespace

ChosenKernels permitted(ChosenKernels kernels, const AliasOptions& options) {
  for (Kernel& kernel : kernels) {
    if (!options.in_place) kernel.in_place.clear();
    if (!options.views) kernel.may_alias_views = false;
  }
  return kernels;
}

AliasClasses alias_classes(const Graph& graph, const ChosenKernels& kernels, const std::vector<NodeId>& order,
                           const AliasOptions& options) {
  return Decision(graph, kernels, order, options).decide();
}

}  // namespace lowtide
