// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/budget/runs/timeline.h"

#include <algorithm>
#include <array>

#include "lowtide/base/check.h"

namespace lowtide::budget_internal {
namespace {

constexpr std::int64_t kChangeWork = 60;  // of an added or removed run, beside what depends on positions

}  // namespace

Timeline::Timeline(const RunProblem& problem)
    : problem_(problem), weight_of_(problem.count(), 0), runs_of_(problem.count()), place_(problem.count(), 0) {}

void Timeline::begin(const Runs& runs) {
  runs_.clear();
  part_uses_.clear();
  order_.clear();
  loads_.clear();
  weights_.clear();
  for (std::vector<RunId>& of_node : runs_of_) of_node.clear();
  free_.clear();
  repeated_.clear();
  cost_ = 0;
  end_bytes_ = 0;
  forbidden_ = 0;
  for (Index node : runs) add_run(node, order_.size());
  // Outputs live until the end, which the runs after them did not count yet.
  for (Index entry = 0; entry < problem_.count(); ++entry) {
    LOWTIDE_CHECK(!problem_.is_run(entry) || !runs_of_[entry].empty(), "each node runs in a valid sequence");
    if (problem_.is_output[entry] == 0) continue;
    const RunId last = runs_of_[problem_.owner(entry)].back();
    add_bytes(use_position(last, problem_.slot(entry)) + 1, order_.size(), static_cast<double>(problem_.size[entry]));
    set_last_use(last, problem_.slot(entry), kEnd);
    end_bytes_ += static_cast<double>(problem_.size[entry]);
  }
  changes_.clear();
  unused_.clear();
}

void Timeline::weigh(const std::vector<double>& by_node) {
  weight_of_ = by_node;
  for (std::size_t at = 0; at < order_.size(); ++at) weights_[at] = weight_of_[node_at(at)];
}

Runs Timeline::runs() const {
  Runs result;
  for (RunId run : order_) result.push_back(runs_[run].node);
  return result;
}

Timeline::RunId Timeline::run_before(Index node, std::size_t at) const {
  const std::vector<RunId>& all = runs_of_[node];
  for (std::size_t which = all.size(); which-- > 0;) {
    if (runs_[all[which]].position < at) return all[which];
  }
  return kNone;
}

Timeline::RunId Timeline::last_reader(Index entry, std::size_t from, std::size_t until) const {
  RunId best = kNone;
  std::size_t best_at = from;
  for (Index reader : problem_.readers(entry)) {
    const RunId run = run_before(reader, until);
    if (run == kNone || runs_[run].position <= best_at) continue;
    best = run;
    best_at = runs_[run].position;
  }
  return best;
}

std::size_t Timeline::latest_run(Index node, std::size_t before) const {
  const RunId run = run_before(node, before);
  return run == kNone ? before : runs_[run].position;
}

std::size_t Timeline::next_run(Index node, std::size_t after) const {
  for (RunId run : runs_of_[node]) {
    if (runs_[run].position > after) return runs_[run].position;
  }
  return order_.size();
}

std::size_t Timeline::next_reader(Index entry, std::size_t after) const {
  std::size_t best = order_.size();
  for (Index reader : problem_.readers(entry)) best = std::min(best, next_run(reader, after));
  return best;
}

bool Timeline::is_live(Index entry, std::size_t at) const {
  const RunId run = run_before(problem_.owner(entry), at);
  return run != kNone && use_position(run, problem_.slot(entry)) >= at;
}

bool Timeline::is_locked(Index node, std::size_t at) const {
  const auto writers = problem_.writers_after(node);
  return std::any_of(writers.begin(), writers.end(), [&](Index writer) { return first_run(writer) < at; });
}

bool Timeline::is_used(RunId run) const {
  if (runs_[run].last_use != run) return true;
  const std::size_t parts = problem_.parts(runs_[run].node).size();
  for (std::uint32_t slot = 1; slot <= parts; ++slot) {
    if (last_use(run, slot) != run) return true;
  }
  return false;
}

bool Timeline::is_allowed() const {
  if (forbidden_ != 0) return false;
  if (!problem_.has_rules()) return true;
  return std::all_of(changes_.begin(), changes_.end(),
                     [&](const Change& change) { return !problem_.is_ruled(change.node) || keeps_rules(change.node); });
}

bool Timeline::keeps_rules(Index node) const {
  for (Index writer : problem_.writers_after(node)) {
    if (last_run(node) > first_run(writer)) return false;
  }
  for (Index reader : problem_.readers_before(node)) {
    if (last_run(reader) > first_run(node)) return false;
  }
  bool is_well = is_remade(node) && keeps_group(node);
  problem_.for_each_entry(node, [&](Index entry) {
    const Index writer = problem_.overwriter_of(entry);
    is_well = is_well && (writer == RunProblem::kNone || is_remade(writer));
  });
  return is_well;
}

// Between two runs, what the node writes over is made again.
bool Timeline::is_remade(Index writer) const {
  const std::vector<RunId>& all = runs_of_[writer];
  const auto overwritten = problem_.overwritten_by(writer);
  for (std::size_t which = 1; which < all.size(); ++which) {
    const bool are_made = std::all_of(overwritten.begin(), overwritten.end(), [&](Index entry) {
      return runs_within(problem_.owner(entry), runs_[all[which - 1]].position, runs_[all[which]].position);
    });
    if (!are_made) return false;
  }
  return true;
}

bool Timeline::keeps_group(Index node) const {
  if (problem_.group_of(node) == RunProblem::kNone) return true;
  const Runs& group = problem_.groups()[problem_.group_of(node)];
  std::size_t at = 0;
  for (RunId run : order_) {
    if (problem_.group_of(runs_[run].node) != problem_.group_of(node)) continue;
    if (at == group.size() || group[at] != runs_[run].node) return false;
    ++at;
  }
  return at == group.size();
}

Timeline::Height Timeline::height() const {
  // Four sums side by side: a fixed order of additions, and independent ones.
  constexpr std::size_t kSide = 4;
  std::array<double, kSide> peak{};
  std::array<double, kSide> excess{};
  std::array<double, kSide> weighed{};
  const auto budget = static_cast<double>(problem_.budget);
  const std::size_t whole = loads_.size() / kSide * kSide;
  const double* loads = loads_.data();
  for (std::size_t at = 0; at < whole; at += kSide) {
    for (std::size_t side = 0; side < kSide; ++side) {
      const double load = loads[at + side];
      const double over = load - budget;
      peak[side] = peak[side] > load ? peak[side] : load;
      excess[side] += over > 0 ? over : 0;
      weighed[side] += over > 0 ? over * weights_[at + side] : 0;
    }
  }
  for (std::size_t at = whole; at < loads_.size(); ++at) {
    peak[0] = std::max(peak[0], loads[at]);
    excess[0] += std::max(loads[at] - budget, 0.0);
    weighed[0] += std::max(loads[at] - budget, 0.0) * weights_[at];
  }
  return {.peak = std::max(std::max(peak[0], peak[1]), std::max(peak[2], peak[3])),
          .excess = (excess[0] + excess[1]) + (excess[2] + excess[3]),
          .weighed = (weighed[0] + weighed[1]) + (weighed[2] + weighed[3])};
}

std::size_t Timeline::peak_within(std::size_t from, std::size_t until) const {
  const auto begin = loads_.begin();
  const auto peak =
      std::max_element(begin + static_cast<std::ptrdiff_t>(from), begin + static_cast<std::ptrdiff_t>(until));
  return static_cast<std::size_t>(peak - begin);
}

void Timeline::shift(std::size_t from) {
  for (std::size_t at = from; at < order_.size(); ++at) runs_[order_[at]].position = static_cast<std::uint32_t>(at);
  work_ += static_cast<std::int64_t>(order_.size() - from);
}

void Timeline::add_bytes(std::size_t from, std::size_t until, double bytes) {
  for (std::size_t at = from; at < until; ++at) loads_[at] += bytes;
  if (until > from) work_ += static_cast<std::int64_t>(until - from) / 2;
}

void Timeline::note_unused(RunId run) {
  if (!is_used(run)) unused_.push_back(run);
}

void Timeline::add_seed(Index node, double sign) {
  if (problem_.seed[node] == 0 || !runs_again(node)) return;
  add_bytes(first_run(node), last_run(node) + 1, sign * static_cast<double>(problem_.seed[node]));
}

void Timeline::link(RunId run) {
  const Run& linked = runs_[run];
  std::vector<RunId>& all = runs_of_[linked.node];
  auto place = all.end();
  while (place != all.begin() && runs_[*(place - 1)].position > linked.position) --place;
  all.insert(place, run);
  cost_ += problem_.cost[linked.node];
  if (all.size() > 1) forbidden_ += problem_.runs_once[linked.node];
  if (all.size() != 2) return;
  place_[linked.node] = repeated_.size();
  repeated_.push_back(linked.node);
}

void Timeline::unlink(RunId run) {
  const Index node = runs_[run].node;
  std::vector<RunId>& all = runs_of_[node];
  all.erase(std::find(all.begin(), all.end(), run));
  cost_ -= problem_.cost[node];
  free_.push_back(run);
  if (!all.empty()) forbidden_ -= problem_.runs_once[node];
  if (all.size() != 1) return;
  repeated_[place_[node]] = repeated_.back();
  place_[repeated_.back()] = place_[node];
  repeated_.pop_back();
}

Timeline::RunId Timeline::new_run(Index node, std::size_t at) {
  if (free_.empty()) {
    free_.push_back(static_cast<RunId>(runs_.size()));
    runs_.emplace_back();
    part_uses_.resize(runs_.size() * problem_.most_parts());
  }
  const RunId run = free_.back();
  free_.pop_back();
  runs_[run] = {.node = node, .position = static_cast<std::uint32_t>(at), .last_use = run};
  for (std::uint32_t slot = 1; slot <= problem_.most_parts(); ++slot) set_last_use(run, slot, run);
  return run;
}

// The live bytes at the run, without its own outputs and the seed that begins with it.
double Timeline::live_across(std::size_t at, Index without) const {
  if (at == order_.size()) return end_bytes_;
  const Index next = node_at(at);
  const bool begins_seed = problem_.has_seeds() && next != without && runs_again(next) && first_run(next) == at;
  return loads_[at] - static_cast<double>(problem_.own_load[next]) -
         (begins_seed ? static_cast<double>(problem_.seed[next]) : 0.0);
}

void Timeline::end_before(RunId run, Index entry, std::size_t at) {
  const RunId last = last_reader(entry, runs_[run].position, at);
  set_last_use(run, problem_.slot(entry), last == kNone ? run : last);
}

void Timeline::add_run(Index node, std::size_t at) {
  if (problem_.has_seeds()) add_seed(node, -1);
  const double across = live_across(at, node);
  const RunId run = new_run(node, at);
  order_.insert(order_.begin() + static_cast<std::ptrdiff_t>(at), run);
  loads_.insert(loads_.begin() + static_cast<std::ptrdiff_t>(at),
                across + static_cast<double>(problem_.own_load[node]));
  weights_.insert(weights_.begin() + static_cast<std::ptrdiff_t>(at), weight_of_[node]);
  shift(at);
  const RunId previous = run_before(node, at);
  link(run);
  if (previous != kNone) {
    bool loses_use = false;
    problem_.for_each_entry(node, [&](Index entry) {
      const std::uint32_t slot = problem_.slot(entry);
      if (use_position(previous, slot) <= at) return;
      loses_use = true;
      const auto size = static_cast<double>(problem_.size[entry]);
      set_last_use(run, slot, last_use(previous, slot));
      end_before(previous, entry, at);
      add_bytes(use_position(previous, slot) + 1, at, -size);
      loads_[at] -= size;  // it was live across the place, and now is the run's own
    });
    if (loses_use) note_unused(previous);
  }
  take_uses(run, at);
  if (problem_.has_seeds()) add_seed(node, 1);
  work_ += kChangeWork + 10 * static_cast<std::int64_t>(problem_.inputs(node).size());
}

// The inputs of a new run live until it.
void Timeline::take_uses(RunId run, std::size_t at) {
  for (Index input : problem_.inputs(runs_[run].node)) {
    const RunId made = run_before(problem_.owner(input), at);
    LOWTIDE_CHECK(made != kNone, "the inputs of a run have run before it");
    const std::uint32_t slot = problem_.slot(input);
    const std::size_t use = use_position(made, slot);
    if (use >= at) continue;
    add_bytes(use + 1, at + 1, static_cast<double>(problem_.size[input]));
    set_last_use(made, slot, run);
  }
}

bool Timeline::remove_run(std::size_t at) {
  const RunId run = order_[at];
  const Index node = runs_[run].node;
  const RunId previous = run_before(node, at);
  const bool has_use = is_used(run);
  if (has_use ? previous == kNone : !runs_again(node)) return false;
  if (problem_.has_seeds()) add_seed(node, -1);
  if (has_use) {
    problem_.for_each_entry(node, [&](Index entry) {
      const std::uint32_t slot = problem_.slot(entry);
      if (last_use(run, slot) == run) return;
      add_bytes(use_position(previous, slot) + 1, at, static_cast<double>(problem_.size[entry]));
      set_last_use(previous, slot, last_use(run, slot));
    });
  }
  for (Index input : problem_.inputs(node)) {
    const RunId made = run_before(problem_.owner(input), at);
    const std::uint32_t slot = problem_.slot(input);
    if (last_use(made, slot) != run) continue;
    end_before(made, input, at);
    add_bytes(use_position(made, slot) + 1, at, -static_cast<double>(problem_.size[input]));
    note_unused(made);
  }
  unlink(run);
  order_.erase(order_.begin() + static_cast<std::ptrdiff_t>(at));
  loads_.erase(loads_.begin() + static_cast<std::ptrdiff_t>(at));
  weights_.erase(weights_.begin() + static_cast<std::ptrdiff_t>(at));
  shift(at);
  if (problem_.has_seeds()) add_seed(node, 1);
  work_ += kChangeWork + 10 * static_cast<std::int64_t>(problem_.inputs(node).size());
  return true;
}

void Timeline::insert(Index node, std::size_t at) {
  changes_.push_back({.is_insertion = true, .node = node, .at = at});
  add_run(node, at);
}

bool Timeline::erase(std::size_t at) {
  const Index node = node_at(at);
  if (!remove_run(at)) return false;
  changes_.push_back({.is_insertion = false, .node = node, .at = at});
  return true;
}

void Timeline::prune() {
  while (!unused_.empty()) {
    const RunId run = unused_.back();
    unused_.pop_back();
    const Run& pruned = runs_[run];
    const bool is_there = pruned.position < order_.size() && order_[pruned.position] == run;
    const bool may_go = runs_again(pruned.node) && problem_.group_of(pruned.node) == RunProblem::kNone;
    if (is_there && may_go && !is_used(run)) erase(pruned.position);
  }
}

void Timeline::commit() {
  changes_.clear();
  unused_.clear();
}

void Timeline::undo() {
  while (!changes_.empty()) {
    const Change change = changes_.back();
    changes_.pop_back();
    if (change.is_insertion) {
      LOWTIDE_CHECK(remove_run(change.at), "an added run can be removed");
    } else {
      add_run(change.node, change.at);
    }
  }
  unused_.clear();
}

}  // namespace lowtide::budget_internal
