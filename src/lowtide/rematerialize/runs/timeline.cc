// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/rematerialize/runs/timeline.h"

#include <algorithm>
#include <array>

#include "lowtide/base/check.h"

namespace lowtide::rematerialize_internal {
namespace {

constexpr std::int64_t kChangeWork = 60;  // of an added or removed run, beside what depends on positions

}  // namespace

Timeline::Timeline(const RunProblem& problem)
    : problem_(problem), runs_of_(problem.count()), place_(problem.count(), 0) {}

void Timeline::begin(const Runs& runs) {
  runs_.clear();
  order_.clear();
  loads_.clear();
  for (std::vector<RunId>& of_node : runs_of_) of_node.clear();
  free_.clear();
  repeated_.clear();
  cost_ = 0;
  end_bytes_ = 0;
  forbidden_ = 0;
  for (Index node : runs) add_run(node, order_.size());
  // Outputs live until the end, which the runs after them did not count yet.
  for (Index node = 0; node < problem_.count(); ++node) {
    LOWTIDE_CHECK(!runs_of_[node].empty(), "each node runs in a valid sequence");
    if (problem_.is_output[node] == 0) continue;
    const RunId last = runs_of_[node].back();
    add_bytes(use_position(last) + 1, order_.size(), static_cast<double>(problem_.size[node]));
    runs_[last].last_use = kEnd;
    end_bytes_ += static_cast<double>(problem_.size[node]);
  }
  changes_.clear();
  unused_.clear();
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

Timeline::RunId Timeline::last_reader(Index node, std::size_t from, std::size_t until) const {
  RunId best = kNone;
  std::size_t best_at = from;
  for (Index reader : problem_.readers(node)) {
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

std::size_t Timeline::next_reader(Index node, std::size_t after) const {
  std::size_t best = order_.size();
  for (Index reader : problem_.readers(node)) best = std::min(best, next_run(reader, after));
  return best;
}

bool Timeline::is_live(Index node, std::size_t at) const {
  const RunId run = run_before(node, at);
  return run != kNone && use_position(run) >= at;
}

Timeline::Height Timeline::height() const {
  // Four sums side by side: a fixed order of additions, and independent ones.
  constexpr std::size_t kSide = 4;
  std::array<double, kSide> peak{};
  std::array<double, kSide> excess{};
  const auto budget = static_cast<double>(problem_.budget);
  const std::size_t whole = loads_.size() / kSide * kSide;
  const double* loads = loads_.data();
  for (std::size_t at = 0; at < whole; at += kSide) {
    for (std::size_t side = 0; side < kSide; ++side) {
      const double load = loads[at + side];
      const double over = load - budget;
      peak[side] = peak[side] > load ? peak[side] : load;
      excess[side] += over > 0 ? over : 0;
    }
  }
  for (std::size_t at = whole; at < loads_.size(); ++at) {
    peak[0] = std::max(peak[0], loads[at]);
    excess[0] += std::max(loads[at] - budget, 0.0);
  }
  return {.peak = std::max(std::max(peak[0], peak[1]), std::max(peak[2], peak[3])),
          .excess = (excess[0] + excess[1]) + (excess[2] + excess[3])};
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
  if (runs_[run].last_use == run) unused_.push_back(run);
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

void Timeline::add_run(Index node, std::size_t at) {
  const auto size = static_cast<double>(problem_.size[node]);
  if (free_.empty()) {
    free_.push_back(static_cast<RunId>(runs_.size()));
    runs_.emplace_back();
  }
  const RunId run = free_.back();
  free_.pop_back();
  // What is live across the place: as at the next run, without that run's own output.
  const bool is_last = at == order_.size();
  const double across = is_last ? end_bytes_ : loads_[at] - static_cast<double>(problem_.own_load[node_at(at)]);
  const auto own = static_cast<double>(problem_.own_load[node]);
  order_.insert(order_.begin() + static_cast<std::ptrdiff_t>(at), run);
  loads_.insert(loads_.begin() + static_cast<std::ptrdiff_t>(at), across + own);
  runs_[run] = {.node = node, .position = static_cast<std::uint32_t>(at), .last_use = run};
  shift(at);
  const RunId previous = run_before(node, at);
  link(run);
  if (previous != kNone && use_position(previous) > at) {
    runs_[run].last_use = runs_[previous].last_use;
    const RunId last = last_reader(node, runs_[previous].position, at);
    runs_[previous].last_use = last == kNone ? previous : last;
    add_bytes(use_position(previous) + 1, at, -size);
    note_unused(previous);
    loads_[at] -= size;  // it was live across the place, and now is the run's own
  }
  take_uses(run, at);
  work_ += kChangeWork + 10 * static_cast<std::int64_t>(problem_.inputs(node).size());
}

// The inputs of a new run live until it.
void Timeline::take_uses(RunId run, std::size_t at) {
  for (Index input : problem_.inputs(runs_[run].node)) {
    const RunId made = run_before(input, at);
    LOWTIDE_CHECK(made != kNone, "the inputs of a run have run before it");
    const std::size_t use = use_position(made);
    if (use >= at) continue;
    add_bytes(use + 1, at + 1, static_cast<double>(problem_.size[input]));
    runs_[made].last_use = run;
  }
}

bool Timeline::remove_run(std::size_t at) {
  const RunId run = order_[at];
  const Index node = runs_[run].node;
  const RunId previous = run_before(node, at);
  if (runs_[run].last_use != run) {
    if (previous == kNone) return false;
    add_bytes(use_position(previous) + 1, at, static_cast<double>(problem_.size[node]));
    runs_[previous].last_use = runs_[run].last_use;
  } else if (runs_of_[node].size() == 1) {
    return false;
  }
  for (Index input : problem_.inputs(node)) {
    const RunId made = run_before(input, at);
    if (runs_[made].last_use != run) continue;
    const RunId last = last_reader(input, runs_[made].position, at);
    runs_[made].last_use = last == kNone ? made : last;
    add_bytes(use_position(made) + 1, at, -static_cast<double>(problem_.size[input]));
    note_unused(made);
  }
  unlink(run);
  order_.erase(order_.begin() + static_cast<std::ptrdiff_t>(at));
  loads_.erase(loads_.begin() + static_cast<std::ptrdiff_t>(at));
  shift(at);
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
    if (is_there && pruned.last_use == run && runs_again(pruned.node)) erase(pruned.position);
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

}  // namespace lowtide::rematerialize_internal
