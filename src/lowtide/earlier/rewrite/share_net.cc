// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/rewrite/share_net.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "lowtide/base/listed.h"
#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"
#include "lowtide/earlier/baselines/assigned_slots.h"
#include "lowtide/earlier/netdef/compare_nets.h"
#include "lowtide/earlier/rewrite/name_order.h"

namespace lowtide {
namespace rewrite_internal {
namespace {

Error invalid(std::string message) { return Error{ErrorCode::invalid, std::move(message), ""}; }

bool is_interference(std::string_view rule) { return rule.starts_with("caffe2_interference"); }

bool is_for_gradients(std::string_view rule) { return rule.starts_with("caffe2_gradients"); }

bool is_for_sequences(std::string_view rule) {
  return rule == kLowtideRule || rule == "caffe2_simple" || is_interference(rule);
}

std::string baseline_of(const std::string& rule) {
  if (rule == kNoRule) return "caffe2_interference_greedy";  // for its figures without sharing
  return rule == kLowtideRule ? "caffe2_interference_exact" : rule;
}

// The figures without sharing.
void share_nothing(BaselineOutcome& outcome) {
  outcome.bytes = outcome.naive;
  outcome.blocks.clear();
  outcome.shared_buffers = 0;
  outcome.blobs_left = outcome.blobs;
  outcome.proven_optimal = false;
  std::ranges::fill(outcome.sharing.places, std::nullopt);
}

class NetSharer {
 public:
  NetSharer(const ProtoMessage& net, const NetGraph& graph, const ShareNetOptions& options)
      : net_(net), graph_(graph), options_(options) {
    for (TensorId id : all_ids<TensorId>(graph.graph.tensors().size())) {
      tensors_[graph.facts.blob_of[id]].push_back(id);
    }
  }

  Result<SharedNet> share() &&;

 private:
  Result<void> check() const;
  Result<std::vector<TensorId>> tensors_of(const std::vector<std::string>& names, const char* what) const;
  Result<BaselineOptions> baseline_options() const;
  [[nodiscard]] bool is_gradient(const std::string& name) const;
  Result<void> list_gradients(BaselineOptions& options) const;
  std::vector<TensorId> activations() const;
  Result<std::vector<std::vector<TensorId>>> assigned_slots() const;
  Result<void> check_assigned(const BaselineOptions& options, const std::vector<NodeId>& order) const;
  Result<BaselineOutcome> decide(const BaselineOptions& options, std::vector<NodeId>& order) const;
  [[nodiscard]] std::vector<NodeId> given_order() const;
  [[nodiscard]] std::vector<std::string> names_of_blocks(const BaselineOutcome& outcome) const;
  [[nodiscard]] BlobNames renaming(const BaselineOutcome& outcome) const;
  Result<void> check_same(const ProtoMessage& before, const ProtoMessage& after,
                          const CompareNetsOptions& options) const;
  Result<ProtoMessage> in_order(const std::vector<NodeId>& order) const;
  [[nodiscard]] std::set<std::string, std::less<>> not_freed(const BlobNames& names) const;
  [[nodiscard]] std::vector<std::string> names_of(const std::vector<TensorId>& tensors) const;
  void list_arguments(const BaselineOptions& options, SharedNet& shared) const;

  const ProtoMessage& net_;
  const NetGraph& graph_;
  const ShareNetOptions& options_;
  std::map<std::string, std::vector<TensorId>, std::less<>> tensors_;  // by blob
};

Result<void> NetSharer::check() const {
  const std::vector<std::string> rules = share_rules();
  if (options_.rule != kNoRule && std::find(rules.begin(), rules.end(), options_.rule) == rules.end()) {
    return invalid("no rule is called " + quoted(options_.rule, 60) + "; known rules: " + listed(rules));
  }
  if (!is_interference(options_.rule) && (options_.order != ShareOrder::as_given || !options_.assigned.empty())) {
    return invalid(quoted(options_.rule, 60) +
                   (options_.assigned.empty() ? " keeps the order of its own" : " cannot begin with assigned slots") +
                   "; only caffe2_interference_greedy and caffe2_interference_exact take this option");
  }
  if (!options_.gradients.empty() && !is_for_gradients(options_.rule)) {
    return invalid("gradients are listed, but only caffe2_gradients and caffe2_gradients_sized use them");
  }
  if (options_.rule == kNoRule && !options_.free_dead) {
    return invalid("with the rule none nothing shares, so there is nothing to do without Free operators");
  }
  if (!options_.free_only.empty() && !options_.free_dead) {
    return invalid("blobs are listed for Free operators, but none are asked for");
  }
  const std::string& type = graph_.facts.type;
  if (graph_.facts.has_free) {
    return Error{ErrorCode::unsupported,
                 "the net has Free operators, which release buffers that other blobs may share; share before they are "
                 "added",
                 ""};
  }
  if (is_for_sequences(options_.rule) && !type.empty() && type != "simple") {
    return Error{ErrorCode::unsupported,
                 "a net of the type " + quoted(type, 60) + " may run its operators in parallel, but " +
                     quoted(options_.rule) + " is for one operator after another; use caffe2_dag or caffe2_dag_sized",
                 ""};
  }
  return {};
}

Result<std::vector<TensorId>> NetSharer::tensors_of(const std::vector<std::string>& names, const char* what) const {
  std::vector<TensorId> all;
  for (const std::string& name : names) {
    const auto found = tensors_.find(name);
    if (found == tensors_.end()) return invalid("the net has no blob " + quoted(name, 60) + ", which is " + what);
    all.insert(all.end(), found->second.begin(), found->second.end());
  }
  return all;
}

// An operator that has an input "b_w" writes the activation "b".
std::vector<TensorId> NetSharer::activations() const {
  std::vector<std::string> names;
  for (NodeId id : all_ids<NodeId>(graph_.graph.nodes().size())) {
    std::set<std::string_view> read;
    for (const std::optional<TensorId>& input : graph_.graph.node(id).inputs) {
      if (input) read.insert(graph_.facts.blob_of[*input]);
    }
    for (const std::optional<TensorId>& output : graph_.graph.node(id).outputs) {
      if (!output || graph_.graph.tensor(*output).role == Role::output) continue;
      const std::string& name = graph_.facts.blob_of[*output];
      if (read.contains(name + "_w") && std::find(names.begin(), names.end(), name) == names.end())
        names.push_back(name);
    }
  }
  names.resize(names.size() - std::min<std::size_t>(names.size(), 2));
  std::vector<TensorId> all;
  for (const std::string& name : names) {
    const std::vector<TensorId>& tensors = tensors_.find(name)->second;
    all.insert(all.end(), tensors.begin(), tensors.end());
  }
  return all;
}

// Gradients of external inputs, such as parameters, are results for the caller.
bool NetSharer::is_gradient(const std::string& name) const {
  constexpr std::string_view kMark = "_grad";
  if (!name.starts_with(options_.namescope) && !name.starts_with("_" + options_.namescope)) return false;
  if (!name.ends_with(kMark)) {
    return options_.gradient_names == GradientNames::anywhere && name.find(kMark) != std::string::npos;
  }
  const auto source = tensors_.find(name.substr(0, name.size() - kMark.size()));
  return source == tensors_.end() || graph_.graph.tensor(source->second.front()).producer.has_value();
}

Result<void> NetSharer::list_gradients(BaselineOptions& options) const {
  std::set<TensorId> found;
  for (const auto& [name, tensors] : tensors_) {
    if (is_gradient(name)) found.insert(tensors.begin(), tensors.end());
  }
  LOWTIDE_TRY(const std::vector<TensorId> named, tensors_of(options_.gradients, "a gradient"));
  found.insert(named.begin(), named.end());
  options.gradients.assign(found.begin(), found.end());
  if (options_.share_activations) options.hosts = activations();
  return {};
}

// The rows of a slot become a list, in the order of the rows.
Result<std::vector<std::vector<TensorId>>> NetSharer::assigned_slots() const {
  std::vector<std::vector<TensorId>> slots;
  std::map<std::string_view, std::size_t> slot_of;
  for (const AssignedBlob& row : options_.assigned) {
    const auto found = tensors_.find(row.blob);
    if (found == tensors_.end()) {
      return Error{ErrorCode::invalid, "the net has no blob " + quoted(row.blob, 60), row.place};
    }
    const auto [at, is_new] = slot_of.emplace(row.slot, slots.size());
    if (is_new) slots.emplace_back();
    slots[at->second].push_back(found->second.front());
  }
  return slots;
}

// Gives a fault the place of its row.
Result<void> NetSharer::check_assigned(const BaselineOptions& options, const std::vector<NodeId>& order) const {
  if (options.assigned.empty()) return {};
  LOWTIDE_TRY(const std::optional<AssignedFault> fault, find_assigned_fault(graph_.graph, order, options));
  if (!fault) return {};
  std::map<std::string_view, std::size_t> slot_of;
  std::vector<std::size_t> seen;  // rows of each slot
  for (const AssignedBlob& row : options_.assigned) {
    const std::size_t slot = slot_of.emplace(row.slot, slot_of.size()).first->second;
    seen.resize(slot_of.size());
    if (slot == fault->slot && seen[slot]++ == fault->at) {
      return Error{ErrorCode::invalid, fault->message, row.place};
    }
  }
  return invalid(fault->message);
}

Result<BaselineOptions> NetSharer::baseline_options() const {
  BaselineOptions options{.baseline = baseline_of(options_.rule),
                          .alignment = std::nullopt,
                          .colocated = graph_.facts.colocated,
                          .keep = graph_.facts.unshared,
                          .devices = graph_.facts.devices};
  options.namescope = options_.namescope;
  options.effort = options_.effort;
  LOWTIDE_RETURN_IF_ERROR(tensors_of(options_.free_only, "to be released"));
  LOWTIDE_TRY(const std::vector<TensorId> kept, tensors_of(options_.keep, "to be kept"));
  options.keep.insert(options.keep.end(), kept.begin(), kept.end());
  if (options_.heads) {
    LOWTIDE_TRY(const std::vector<TensorId> heads, tensors_of(*options_.heads, "a head"));
    // The tensors of a name are one blob, so that its first one stands for it.
    options.heads.emplace();
    for (TensorId id : heads) {
      if (tensors_.find(graph_.facts.blob_of[id])->second.front() == id) options.heads->push_back(id);
    }
  }
  if (is_for_gradients(options_.rule)) LOWTIDE_RETURN_IF_ERROR(list_gradients(options));
  LOWTIDE_TRY(std::vector<std::vector<TensorId>> assigned, assigned_slots());
  options.assigned = std::move(assigned);
  return options;
}

std::vector<NodeId> NetSharer::given_order() const {
  std::vector<NodeId> order;
  for (NodeId id : all_ids<NodeId>(graph_.graph.nodes().size())) order.push_back(id);
  return order;
}

// Sets `order` to the order of the outcome.
Result<BaselineOutcome> NetSharer::decide(const BaselineOptions& options, std::vector<NodeId>& order) const {
  order = given_order();
  if (options_.order == ShareOrder::longest_path) {
    LOWTIDE_TRY(std::vector<NodeId> longest, longest_path_order(graph_));
    order = std::move(longest);
  }
  LOWTIDE_RETURN_IF_ERROR(check_assigned(options, order));
  Result<BaselineOutcome> given = apply_baseline(graph_.graph, order, options);
  if (!given || options_.rule != kLowtideRule) return given;
  LOWTIDE_TRY(std::vector<NodeId> other, name_order(graph_));
  Result<BaselineOutcome> planned = apply_baseline(graph_.graph, other, options);
  if (!planned || planned->bytes >= given->bytes) return given;
  order = std::move(other);
  return planned;
}

// The names that the rule gives. Lowtide numbers the blocks that several blobs share.
std::vector<std::string> NetSharer::names_of_blocks(const BaselineOutcome& outcome) const {
  std::vector<std::string> names;
  std::size_t made = 0;
  for (const BaselineBlock& block : outcome.blocks) {
    const bool is_numbered = options_.rule == kLowtideRule && block.blobs > 1;
    names.push_back(is_numbered ? options_.namescope + "__m" + std::to_string(made++) + "_shared" : block.name);
  }
  return names;
}

BlobNames NetSharer::renaming(const BaselineOutcome& outcome) const {
  const std::vector<std::string> names = names_of_blocks(outcome);
  BlobNames renamed;
  for (TensorId id : all_ids<TensorId>(graph_.graph.tensors().size())) {
    const std::optional<SharingPlace>& place = outcome.sharing.places[id];
    if (place && names[place->block] != graph_.facts.blob_of[id]) {
      renamed.emplace(graph_.facts.blob_of[id], names[place->block]);
    }
  }
  return renamed;
}

Result<void> NetSharer::check_same(const ProtoMessage& before, const ProtoMessage& after,
                                   const CompareNetsOptions& options) const {
  LOWTIDE_TRY(const NetComparison comparison, compare_nets(before, after, options));
  if (comparison.is_same) return {};
  return Error{ErrorCode::unsupported,
               "Lowtide cannot share the memory of this net, because the result would be another net: " +
                   comparison.differences.front() + "; keep these blobs with --keep",
               ""};
}

// The net in this order, with the names that it has.
Result<ProtoMessage> NetSharer::in_order(const std::vector<NodeId>& order) const {
  if (order == given_order()) return net_;
  std::vector<std::uint32_t> places;
  for (NodeId id : order) places.push_back(graph_.facts.op_of[id]);
  ProtoMessage ordered = reorder_ops(net_, places);
  // The order by the longest path is that of Caffe2, which takes no account of effects.
  LOWTIDE_RETURN_IF_ERROR(
      check_same(net_, ordered, {.effects_keep_order = options_.order != ShareOrder::longest_path}));
  return ordered;
}

// The blobs, by their new names, that no operator Free may release.
std::set<std::string, std::less<>> NetSharer::not_freed(const BlobNames& names) const {
  std::set<std::string, std::less<>> kept(options_.keep.begin(), options_.keep.end());
  if (options_.free_only.empty()) return kept;
  const std::set<std::string> freed(options_.free_only.begin(), options_.free_only.end());
  for (const auto& [name, tensors] : tensors_) {
    const auto renamed = names.find(name);
    if (!freed.contains(name)) kept.insert(renamed == names.end() ? name : renamed->second);
  }
  return kept;
}

std::vector<std::string> NetSharer::names_of(const std::vector<TensorId>& tensors) const {
  std::set<std::string> names;
  for (TensorId id : tensors) names.insert(graph_.facts.blob_of[id]);
  return {names.begin(), names.end()};
}

void NetSharer::list_arguments(const BaselineOptions& options, SharedNet& shared) const {
  if (!is_for_gradients(options_.rule) && !options_.rule.starts_with("caffe2_dag")) return;
  shared.gradients = names_of(options.gradients);
  shared.hosts = names_of(options.hosts);
  std::set<std::string> may_share(shared.gradients.begin(), shared.gradients.end());
  may_share.insert(shared.hosts.begin(), shared.hosts.end());
  if (!is_for_gradients(options_.rule)) {
    for (const auto& [name, tensors] : tensors_) {
      if (graph_.graph.tensor(tensors.front()).producer) may_share.insert(name);
    }
    for (TensorId id : graph_.graph.outputs()) may_share.erase(graph_.facts.blob_of[id]);
    for (TensorId id : options.keep) may_share.erase(graph_.facts.blob_of[id]);
  }
  shared.shareable = {may_share.begin(), may_share.end()};
  const std::set<TensorId> gradients(options.gradients.begin(), options.gradients.end());
  for (NodeId id : all_ids<NodeId>(graph_.graph.nodes().size())) {
    const auto is_one = [&](const std::optional<TensorId>& tensor) { return tensor && gradients.contains(*tensor); };
    const Node& node = graph_.graph.node(id);
    const bool takes_part = !is_for_gradients(options_.rule) || std::ranges::any_of(node.inputs, is_one) ||
                            std::ranges::any_of(node.outputs, is_one);
    if (takes_part) shared.op_indices.push_back(graph_.facts.op_of[id]);
  }
  std::ranges::sort(shared.op_indices);
}

Result<SharedNet> NetSharer::share() && {
  LOWTIDE_RETURN_IF_ERROR(check());
  LOWTIDE_TRY(const BaselineOptions options, baseline_options());
  std::vector<NodeId> order;
  LOWTIDE_TRY(BaselineOutcome outcome, decide(options, order));
  LOWTIDE_CHECK(outcome.violations.empty(), "the result of a rule for sharing is correct");
  if (options_.rule == kNoRule) share_nothing(outcome);
  SharedNet shared{.net = net_, .names = renaming(outcome), .outcome = std::move(outcome)};
  list_arguments(options, shared);
  LOWTIDE_TRY(const auto present, blob_names(net_));
  for (const std::string& name : names_of_blocks(shared.outcome)) {
    const bool is_made = name.ends_with("_shared") && name.starts_with(options_.namescope + "__m");
    if (!is_made || !present.contains(name)) continue;
    shared.already_has = name;
    shared.names.clear();
    return shared;
  }
  shared.is_reordered = order != given_order();
  LOWTIDE_TRY(const ProtoMessage ordered, in_order(order));
  LOWTIDE_TRY(ProtoMessage renamed, rename_blobs(ordered, shared.names));
  if (options_.free_dead) {
    LOWTIDE_TRY(renamed, add_free_ops(renamed, not_freed(shared.names)));
    shared.freed = static_cast<std::int64_t>(count_ops(renamed) - count_ops(net_));
  }
  LOWTIDE_RETURN_IF_ERROR(check_same(ordered, renamed, {}));
  shared.net = std::move(renamed);
  return shared;
}

}  // namespace
}  // namespace rewrite_internal

bool ignores_sizes(std::string_view rule) {
  return rule == "caffe2_simple" || rule == "caffe2_dag" || rule == "caffe2_gradients" || rule == kNoRule;
}

std::vector<std::string> share_rules() {
  std::vector<std::string> rules = {std::string(kLowtideRule)};
  for (const BaselineSpec& spec : baselines()) {
    if (spec.system == "Caffe2") rules.emplace_back(spec.name);
  }
  return rules;
}

Result<SharedNet> share_net(const ProtoMessage& net, const NetGraph& graph, const ShareNetOptions& options) {
  return rewrite_internal::NetSharer(net, graph, options).share();
}

}  // namespace lowtide
