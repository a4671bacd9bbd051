// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/rewrite/grappler_shortfalls.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "lowtide/base/article.h"
#include "lowtide/base/bytes.h"
#include "lowtide/base/listed.h"
#include "lowtide/base/quote.h"
#include "lowtide/base/thousands.h"
#include "lowtide/base/try.h"
#include "lowtide/earlier/graphdef/node_attributes.h"

namespace lowtide::rewrite_internal {
namespace {

constexpr std::int64_t kAllocatorUnit = 256;  // TensorFlow rounds sizes up to it on a GPU

std::string shown_names(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 3;
  std::vector<std::string> shown;
  for (const std::string& name : names) shown.push_back(quoted(name, 40));
  return listed_first(shown, kShown);
}

std::string counted_copies(std::int64_t count) { return std::to_string(count) + (count == 1 ? " copy" : " copies"); }

std::string run_again(std::size_t count) {
  return with_count(static_cast<std::int64_t>(count), "node") + (count == 1 ? " runs" : " run") + " again";
}

class ShortfallFinder {
 public:
  ShortfallFinder(const std::vector<DefNode>& nodes, const std::vector<CostedNodeOfRun>& costed,
                  const BesideGrappler& beside, const TimedRunOptions& clock)
      : nodes_(nodes),
        costed_(costed),
        beside_(beside),
        clock_(clock),
        memory_(clock.cluster.devices[beside.lean.device].memory_bytes) {
    for (std::uint32_t at = 0; at < nodes.size(); ++at) by_name_[nodes[at].name] = at;
  }

  Result<std::vector<GrapplerShortfall>> find() && {
    find_list_of_operators();
    find_needless_reruns();
    find_reruns_without_effect();
    find_ports();
    find_impure();
    find_sums();
    find_pairs();
    find_raised_peak();
    find_waits();
    find_excess();
    find_short_nodes();
    LOWTIDE_RETURN_IF_ERROR(find_rounding());
    find_missing_bound();
    find_ignored_hints();
    return std::move(found_);
  }

 private:
  void find_missing_bound() {
    if (!beside_.lean.unsized.empty()) return;  // then Lowtide has none either
    add("it has no bound", "nothing says how much better a plan could be",
        beside_.lean.answer.is_optimal()
            ? "proven to take the least time"
            : "no sequence takes less than " + shown_nanoseconds(beside_.lean.answer.cost_bound));
  }

  void add(std::string weakness, std::string grappler, std::string lowtide) {
    found_.push_back({.weakness = std::move(weakness), .grappler = std::move(grappler), .lowtide = std::move(lowtide)});
  }

  [[nodiscard]] std::string own_plan() const {
    return format_bytes_short(beside_.lean.peak) + " in " + shown_nanoseconds(beside_.lean_run.nanoseconds);
  }

  [[nodiscard]] bool is_recomputed(const std::string& name) const {
    return std::ranges::find(beside_.grappler.recomputed, name) != beside_.grappler.recomputed.end();
  }

  void find_list_of_operators() {
    std::set<std::string> others;
    for (const auto& [name, times] : beside_.lean.recomputed) {
      const auto found = by_name_.find(name);
      if (found == by_name_.end()) continue;  // a part of a sum
      const DefNode& node = nodes_[found->second];
      if (!is_cheap_for_grappler(node.op) && !has_attribute(node, "_recompute_hint")) others.insert(node.op);
    }
    if (others.empty()) return;
    add("only operators of a fixed list run again", "none of " + shown_names({others.begin(), others.end()}) + " does",
        run_again(beside_.lean.recomputed.size()) + ", of any operator");
  }

  void find_needless_reruns() {
    const std::size_t count = beside_.grappler.recomputed.size();
    if (count == 0 || memory_ == 0 || beside_.given.peak_bytes > memory_) return;
    add("it recomputes without need", "the graph keeps the memory as it is, and yet " + run_again(count),
        run_again(beside_.lean.recomputed.size()));
  }

  void find_reruns_without_effect() {
    const std::size_t count = beside_.grappler.recomputed.size();
    if (count == 0 || beside_.grappler_run.peak_bytes < beside_.given.peak_bytes) return;
    add("a group runs before all gradients that read it",
        run_again(count) + " in " + with_count(beside_.grappler.groups, "group") + ", and the peak does not fall",
        own_plan());
  }

  void find_ports() {
    std::vector<std::string> kept;
    for (const CostedNodeOfRun& one : costed_) {
      for (const std::string& input : nodes_[one.node].inputs) {
        const DefInput source = read_input(input);
        const bool has_port = input.size() != source.node.size();
        if (!source.is_control && has_port && is_recomputed(std::string(source.node))) kept.push_back(input);
      }
    }
    if (kept.empty()) return;
    add("only bare names are redirected", "the originals stay for " + shown_names(kept), "every reader gets the copy");
  }

  void find_impure() {
    std::vector<std::string> impure;
    for (const CostedNodeOfRun& one : costed_) {
      const std::string& name = nodes_[one.node].name;
      if (!one.may_run_again && is_recomputed(name)) impure.push_back(name);
    }
    if (impure.empty()) return;
    add("what may give another result runs again", shown_names(impure), "they run once");
  }

  void find_sums() {
    if (beside_.grappler.sums.empty()) return;
    add("sums begin with zeros, and add in any order",
        with_count(static_cast<std::int64_t>(beside_.grappler.sums.size()), "sum") + " in a temporary variable",
        std::to_string(beside_.lean.sums.size()) + " in parts, in a fixed order");
  }

  void find_pairs() {
    std::map<std::string, std::int64_t> pairs;
    for (const GrapplerSwap& one : beside_.grappler.swaps) {
      const auto node = by_name_.find(one.node);
      if (node == by_name_.end()) continue;
      const std::vector<std::string>& inputs = nodes_[node->second].inputs;
      if (static_cast<std::size_t>(one.input) < inputs.size()) ++pairs[inputs[static_cast<std::size_t>(one.input)]];
    }
    std::int64_t needless = 0;
    for (const auto& [tensor, count] : pairs) needless += count - 1;
    if (needless == 0) return;
    add("each late reader has its own copies",
        counted_copies(beside_.grappler_run.outs) + " to the host of " +
            with_count(static_cast<std::int64_t>(pairs.size()), "tensor"),
        counted_copies(beside_.lean_run.outs) + " of " +
            with_count(static_cast<std::int64_t>(beside_.lean.swaps.size()), "tensor"));
  }

  void find_raised_peak() {
    const GrapplerPeak& peak = beside_.grappler.peaks.at(beside_.lean.device);
    if (beside_.grappler.swaps.empty() || peak.after <= peak.before) return;
    add("a swap raises the peak, because the copy comes back too early",
        "by its own simulation " + format_bytes_short(Bytes(peak.before)) + " before and " +
            format_bytes_short(Bytes(peak.after)) + " after",
        own_plan());
  }

  void find_waits() {
    const bool is_assumed = clock_.link == kLinkOfGrappler;
    if (beside_.grappler.swaps.empty() || is_assumed || beside_.grappler_run.idle_nanoseconds == 0) return;
    add("every link is taken for one of 16 GB/s without latency",
        "the device waits " + shown_nanoseconds(beside_.grappler_run.idle_nanoseconds) + " for copies",
        "it waits " + shown_nanoseconds(beside_.lean_run.idle_nanoseconds));
  }

  void find_excess() {
    if (memory_ == 0 || beside_.grappler_run.peak_bytes <= memory_) return;
    const std::string excess = format_bytes_short(Bytes(beside_.grappler_run.peak_bytes - memory_));
    const BudgetOutcome outcome = beside_.lean.answer.outcome;
    add("it stops above the memory and does not say so", excess + " too much",
        outcome == BudgetOutcome::found
            ? own_plan()
            : (outcome == BudgetOutcome::infeasible ? "proven: no sequence keeps it" : "no sequence was found"));
  }

  void find_short_nodes() {
    const auto count = std::ranges::count_if(
        costed_, [](const CostedNodeOfRun& one) { return !one.is_resident && one.nanoseconds % 1000 != 0; });
    if (count == 0) return;
    add("the simulation knows whole microseconds", "it rounds the times of " + with_count(count, "node"),
        "nanoseconds");
  }

  Result<void> find_rounding() {
    TimedRunOptions rounded = clock_;
    rounded.unit = kAllocatorUnit;
    LOWTIDE_TRY(const TimedRun run, time_run(nodes_of_graphdef(beside_.grappler.graphdef), rounded));
    if (run.peak_bytes - beside_.grappler_run.peak_bytes < beside_.grappler_run.peak_bytes / 100 + 1) return {};
    add("live bytes are counted, without alignment and offsets",
        format_bytes_short(Bytes(beside_.grappler_run.peak_bytes)) + ", which is " +
            format_bytes_short(Bytes(run.peak_bytes)) + " in multiples of 256 bytes",
        "'lowtide plan' counts both");
    return {};
  }

  void find_ignored_hints() {
    std::vector<std::string> ignored;
    for (const CostedNodeOfRun& one : costed_) {
      const bool is_gpu = clock_.cluster.devices[one.device].type == "GPU";
      if (!is_gpu && has_attribute(nodes_[one.node], "_swap_to_host")) ignored.push_back(nodes_[one.node].name);
    }
    if (ignored.empty()) return;
    add("a swap hint on a CPU is ignored silently", shown_names(ignored), "a link of a CPU is refused");
  }

  const std::vector<DefNode>& nodes_;
  const std::vector<CostedNodeOfRun>& costed_;
  const BesideGrappler& beside_;
  const TimedRunOptions& clock_;
  std::int64_t memory_;
  std::unordered_map<std::string, std::uint32_t> by_name_;
  std::vector<GrapplerShortfall> found_;
};

}  // namespace

Result<std::vector<GrapplerShortfall>> find_shortfalls(const std::vector<DefNode>& nodes, const BesideGrappler& beside,
                                                       const TimedRunOptions& clock) {
  LOWTIDE_TRY(const std::vector<CostedNodeOfRun> costed, cost_nodes(nodes, clock.cluster, clock.ends));
  return ShortfallFinder(nodes, costed, beside, clock).find();
}

}  // namespace lowtide::rewrite_internal
