// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/share/alias_classes.h"

#include <algorithm>
#include <map>
#include <utility>

#include "lowtide/base/flags.h"
#include "lowtide/base/range_max.h"
#include "lowtide/share/alias_forest.h"
#include "lowtide/share/class_parts.h"
#include "lowtide/share/in_place.h"
#include "lowtide/share/load.h"

namespace lowtide {
namespace {

using share_internal::AliasForest;

// One way to decide all aliases, from which AliasClasses are made.
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
        views_(graph, kernels),
        order_(order),
        options_(options),
        position_(graph.nodes().size()),
        is_computing_(graph.nodes().size()) {
    for (NodeId id : options.computing) is_computing_.set(id);
    for (std::size_t step = 0; step < order.size(); ++step) position_[order[step]] = static_cast<std::uint32_t>(step);
    const AliasForest alone(graph_, position_);
    lives_.reserve(graph.tensors().size());
    for (TensorId id : all_ids<TensorId>(graph.tensors().size())) {
      lives_.push_back({StepId(alone.root(id).begin), StepId(alone.root(id).end)});
    }
  }

  AliasClasses decide() {
    Candidate alone{AliasForest(graph_, position_),
                    IdVector<NodeId, StepKind>(graph_.nodes().size(), StepKind::compute)};
    Candidate in_states = alone;
    const bool has_next_states = join_next_states(in_states);
    AliasClasses best = decide_from(std::move(in_states));
    if (!has_next_states) return best;
    // A view of a larger tensor may cost less in the arena than its copy in the state.
    Bytes best_load = load_of(best);
    keep_lower(best, best_load, decide_from(std::move(alone)));
    return best;
  }

 private:
  AliasClasses decide_from(Candidate base) {
    partial_.clear();
    has_copied_operands_ = false;
    join_whole_views(base);
    AliasClasses none = finish(base);
    if (partial_.empty()) return none;
    std::vector<Bytes> profile = load_profile(none, kernels_, order_, options_);
    AliasClasses best = join_all(base);
    Bytes best_load = load_of(best);
    const Bytes none_load = largest(profile);
    keep_lower(best, best_load, one_by_one(base, profile, std::min(best_load, none_load)));
    // An operand can be in only one concat. So this also tries the concats from first to last, and without copies.
    if (has_copied_operands_) {
      std::reverse(partial_.begin(), first_other());
      keep_lower(best, best_load, join_all(base));
      std::reverse(partial_.begin(), first_other());
      may_copy_operands_ = false;
      keep_lower(best, best_load, join_all(base));
      keep_lower(best, best_load, one_by_one(base, profile, std::min(best_load, none_load)));
    }
    keep_lower(best, best_load, std::move(none));
    return best;
  }

  using Joins = AliasForest::Joins;

  [[nodiscard]] std::int64_t rounded(std::int64_t size) const {
    return round_up(Bytes(size), options_.alignment).count();
  }

  void join(Candidate& candidate, NodeId node, const Joins& plan) {
    for (const AliasForest::Join& one : plan.joins) candidate.forest.attach(one.part, one.whole, one.offset);
    candidate.step_kinds[node] = plan.has_copies ? StepKind::copy : StepKind::alias;
  }

  // Returns nullopt if the node must compute.
  std::optional<Joins> plan_joins(Candidate& candidate, NodeId node) {
    std::optional<Joins> plan = candidate.forest.plan_joins(graph_, views_.of(node), views_.is_concat(node));
    if (!plan || !plan->has_copies) return plan;
    has_copied_operands_ = has_copied_operands_ || may_copy_operands_;
    return may_copy_operands_ ? plan : std::nullopt;
  }

  // If no node reads a state, its next content can be written into it. Otherwise the program copies it at the end.
  // Returns whether there is any.
  bool join_next_states(Candidate& candidate) const {
    bool is_found = false;
    for (const StateUpdate& update : graph_.state_updates()) {
      const bool is_free = graph_.readers(update.state).empty() && graph_.tensor(update.next).producer &&
                           graph_.tensor(update.next).role == Role::temporary;
      const AliasForest::Place next = candidate.forest.find(update.next);
      if (!is_free || next.root != update.next || candidate.forest.root(next.root).is_given) continue;
      candidate.forest.attach(update.next, update.state, 0);
      is_found = true;
    }
    return is_found;
  }

  // Joins whole views, and partial views of tensors outside of the arena. Both can only save bytes.
  void join_whole_views(Candidate& candidate) {
    may_copy_operands_ = options_.copy_operands;
    if (!options_.views) return;
    for (NodeId id : all_ids<NodeId>(graph_.nodes().size())) {
      if (views_.of(id).empty()) continue;
      const TensorId whole = views_.of(id)[0].whole;
      const bool is_of_external = candidate.forest.root(candidate.forest.find(whole).root).is_external;
      if (!views_.is_partial(id) || is_of_external) {
        if (const auto plan = plan_joins(candidate, id)) join(candidate, id, *plan);
      } else if (!is_computing_.test(id)) {
        partial_.push_back(id);
      }
    }
    // Concats come first, from last to first, because the last one gathers most. An earlier concat of some of its parts
    // may then be inside it. In dense networks, each concat adds a tensor to those of the concat before it.
    std::stable_partition(partial_.begin(), partial_.end(), [&](NodeId id) { return views_.is_concat(id); });
    std::reverse(partial_.begin(), first_other());
  }

  // Returns the end of the concats in `partial_`.
  [[nodiscard]] std::vector<NodeId>::iterator first_other() {
    return std::find_if_not(partial_.begin(), partial_.end(), [&](NodeId id) { return views_.is_concat(id); });
  }

  AliasClasses join_all(const Candidate& base) {
    Candidate candidate = base;
    for (NodeId id : partial_) {
      if (const auto plan = plan_joins(candidate, id)) join(candidate, id, *plan);
    }
    return finish(std::move(candidate));
  }

  // Makes each join that never raises the load above `limit`. `profile` has the loads without partial joins, and each
  // join updates a copy of it. In-place results change the loads slightly, so the caller measures the result.
  AliasClasses one_by_one(const Candidate& base, const std::vector<Bytes>& profile, Bytes limit) {
    std::vector<std::int64_t> row;
    row.reserve(profile.size());
    for (Bytes load : profile) row.push_back(load.count());
    RangeMax load(row);
    Candidate candidate = base;
    for (NodeId id : partial_) {
      std::optional<Joins> plan = plan_joins(candidate, id);
      if (!plan) continue;
      if (raise_stays_below(candidate.forest, plan->joins, load, limit)) {
        join(candidate, id, *plan);
      } else if (may_copy_operands_ && views_.is_concat(id)) {
        join_some_parts(candidate, id, *plan, load, limit);
      }
    }
    return finish(std::move(candidate));
  }

  // Joins each part of a concat that never raises the load above `limit`. The others are copied.
  void join_some_parts(Candidate& candidate, NodeId id, const Joins& plan, RangeMax& load, Bytes limit) {
    for (const AliasForest::Join& one : plan.joins) {
      if (!raise_stays_below(candidate.forest, {one}, load, limit)) continue;
      has_copied_operands_ = true;
      join(candidate, id, {.joins = {one}, .has_copies = true});
    }
  }

  // Applies the change of a join to `load` and returns true. The change is constant between the steps where one of the
  // sets begins or ends. Returns false and changes nothing if the load would rise above `limit` at a step that the join
  // raises.
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

  [[nodiscard]] Bytes load_of(const AliasClasses& aliases) const {
    return largest(load_profile(aliases, kernels_, order_, options_));
  }

  void keep_lower(AliasClasses& best, Bytes& best_load, AliasClasses other) const {
    const Bytes load = load_of(other);
    if (load >= best_load) return;
    best = std::move(other);
    best_load = load;
  }

  AliasClasses finish(Candidate candidate) const {
    AliasForest& forest = candidate.forest;
    if (options_.in_place) {
      share_internal::take_over_inputs({graph_, kernels_, order_, options_.parts, lives_}, candidate.step_kinds,
                                       forest);
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
    list_copies(out);
    if (options_.parts && !order_.empty()) divide(out);
    return out;
  }

  // Lists the operands that are not where the result of their concat needs them.
  void list_copies(AliasClasses& out) const {
    for (NodeId id : all_ids<NodeId>(graph_.nodes().size())) {
      if (out.step_kinds[id] != StepKind::copy) continue;
      const std::span<const TableView> views = views_.of(id);
      for (std::uint32_t operand = 0; operand < views.size(); ++operand) {
        const TableView& view = views[operand];
        const Offset wanted = out.offset_in_class[view.whole] + view.offset;
        const bool is_there =
            out.class_of[view.part] == out.class_of[view.whole] && out.offset_in_class[view.part] == wanted;
        if (!is_there && graph_.tensor(view.part).size > Bytes(0))
          out.copies.push_back({id, operand, view.part, wanted});
      }
      if (out.copies_of(id).empty()) out.step_kinds[id] = StepKind::alias;
    }
  }

  // Finds the parts of classes that hold tensors of different sizes.
  void divide(AliasClasses& out) const {
    IdVector<AliasClassId, std::vector<share_internal::Cover>> covers(out.classes.size());
    Flags<AliasClassId> has_smaller(out.classes.size());
    for (TensorId id : all_ids<TensorId>(graph_.tensors().size())) {
      const AliasClassId in = out.class_of[id];
      if (is_placed(out.classes[in].kind) && graph_.tensor(id).size < out.classes[in].size) has_smaller.set(in);
    }
    for (TensorId id : all_ids<TensorId>(graph_.tensors().size())) {
      const AliasClassId in = out.class_of[id];
      if (!has_smaller.test(in)) continue;
      const std::int64_t begin = out.offset_in_class[id].position();
      covers[in].push_back({{begin, begin + graph_.tensor(id).size.count()}, lives_[id]});
    }
    for (AliasClassId id : all_ids<AliasClassId>(out.classes.size())) {
      if (has_smaller.test(id))
        out.classes[id].parts = share_internal::class_parts(covers[id], out.classes[id].size, options_.alignment);
    }
  }

  const Graph& graph_;
  const ChosenKernels& kernels_;
  const ViewTable views_;
  const std::vector<NodeId>& order_;
  const AliasOptions& options_;
  IdVector<NodeId, std::uint32_t> position_;
  Flags<NodeId> is_computing_;
  IdVector<TensorId, Lifespan> lives_;  // of each tensor by itself
  std::vector<NodeId> partial_;         // nodes whose views cover a part of a tensor; joining them may raise the load
  bool may_copy_operands_ = true;
  bool has_copied_operands_ = false;  // some candidate so far has copied operands
};

}  // namespace

std::span<const OperandCopy> AliasClasses::copies_of(NodeId node) const {
  const auto first = std::lower_bound(copies.begin(), copies.end(), node,
                                      [](const OperandCopy& copy, NodeId id) { return copy.concat < id; });
  const auto end = std::find_if(first, copies.end(), [&](const OperandCopy& copy) { return copy.concat != node; });
  return {first, end};
}

Kernel permitted(Kernel kernel, const AliasOptions& options) {
  if (!options.in_place) kernel.in_place.clear();
  if (!options.views) kernel.may_alias_views = false;
  return kernel;
}

ChosenKernels permitted(ChosenKernels kernels, const AliasOptions& options) {
  for (Kernel& kernel : kernels) kernel = permitted(std::move(kernel), options);
  return kernels;
}

AliasClasses alias_classes(const Graph& graph, const ChosenKernels& kernels, const std::vector<NodeId>& order,
                           const AliasOptions& options) {
  return Decision(graph, kernels, order, options).decide();
}

}  // namespace lowtide
