// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "lowtide/plan/budget_problem.h"

namespace lowtide {

// What has happened in a sequence of runs of a small problem, and what is kept. Bits are numbers of entries.
struct RunState {
  std::uint32_t ran = 0;     // runs that have happened
  std::uint32_t kept = 0;    // outputs and parts whose bytes exist
  std::uint32_t seeds = 0;   // runs whose seed is kept
  std::uint32_t places = 0;  // how far each group is, 4 bits per group
  friend auto operator<=>(const RunState&, const RunState&) = default;
};

// All sequences of a problem with at most 16 entries, as a search over states. Bytes may be dropped at any time.
// It shares no code with the planners and the checkers, and follows plan/budget_problem.h by its words.
class RunStates {
 public:
  explicit RunStates(const BudgetProblem& problem) : problem_(problem) {
    for (const BudgetNode& node : problem.nodes) states_ += node.is_state ? node.size : Bytes(0);
  }

  struct Move {
    RunState to;
    Bytes load;  // during the run
  };

  // A run of a node; nullopt if a rule forbids it. Everything kept stays live; the old bytes of the node are replaced.
  [[nodiscard]] std::optional<Move> run(const RunState& from, std::uint32_t at, bool keeps_seed) const {
    const BudgetNode& node = problem_.nodes[NodeId(at)];
    if (!node.is_run()) return std::nullopt;
    const bool is_again = has(from.ran, at);
    if (is_again && (node.runs_once || updates_state(at) || (node.seed > Bytes(0) && !has(from.seeds, at)))) {
      return std::nullopt;
    }
    if (!is_again && keeps_seed && node.seed == Bytes(0)) return std::nullopt;
    for (const BeforeEdge& edge : problem_.before) {
      if (edge.reader.value() == at && has(from.ran, edge.writer.value())) return std::nullopt;
    }
    for (NodeId read : node.reads) {
      if (!exists(from, bytes_of(read.value()))) return std::nullopt;
      const std::optional<std::uint32_t> writer = writer_of(bytes_of(read.value()));
      if (writer && *writer != at && has(from.ran, *writer)) return std::nullopt;
    }
    Move move{.to = from, .load = states_ + node.extra};
    if (!advance_group(move.to, at)) return std::nullopt;
    move.to.ran |= bit(at);
    if (!is_again && keeps_seed) move.to.seeds |= bit(at);
    for (std::uint32_t other = 0; other < count(); ++other) {
      const BudgetNode& entry = problem_.nodes[NodeId(other)];
      if (is_made_by(other, at) && !is_of_state(other)) move.to.kept |= bit(other);
      if (has(move.to.kept, other)) move.load += entry.size;
      if (has(move.to.seeds, other)) move.load += entry.seed;
    }
    for (std::uint32_t other = 0; other < count(); ++other) {
      const std::optional<NodeId> overwritten = problem_.nodes[NodeId(other)].overwrites;
      if (overwritten && is_made_by(other, at)) move.to.kept &= ~bit(bytes_of(overwritten->value()));
    }
    return move;
  }

  // The states that follow if one thing is dropped.
  [[nodiscard]] std::vector<RunState> drops(const RunState& from) const {
    std::vector<RunState> next;
    for (std::uint32_t at = 0; at < count(); ++at) {
      RunState to = from;
      if (has(from.kept, at)) {
        to.kept &= ~bit(at);
        next.push_back(to);
        to = from;
      }
      if (has(from.seeds, at)) {
        to.seeds &= ~bit(at);
        next.push_back(to);
      }
    }
    return next;
  }

  // The live bytes at the end, if a sequence may end here.
  [[nodiscard]] std::optional<Bytes> end(const RunState& state) const {
    std::uint32_t outputs = 0;
    for (std::uint32_t at = 0; at < count(); ++at) {
      const BudgetNode& node = problem_.nodes[NodeId(at)];
      if (node.is_run() && !has(state.ran, at)) return std::nullopt;
      if (!node.is_output) continue;
      if (!exists(state, bytes_of(at))) return std::nullopt;
      outputs |= bit(bytes_of(at));
    }
    for (std::size_t group = 0; group < problem_.groups.size(); ++group) {
      if (place(state, group) != problem_.groups[group].size()) return std::nullopt;
    }
    Bytes load = states_;
    for (std::uint32_t at = 0; at < count(); ++at) {
      const BudgetNode& node = problem_.nodes[NodeId(at)];
      if (has(outputs, at) && !node.is_state) load += node.size;
    }
    return load;
  }

  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(problem_.nodes.size()); }
  [[nodiscard]] std::int64_t cost(std::uint32_t at) const { return problem_.nodes[NodeId(at)].cost; }
  [[nodiscard]] Bytes budget() const { return problem_.budget; }

 private:
  static std::uint32_t bit(std::uint32_t at) { return 1U << at; }
  static bool has(std::uint32_t set, std::uint32_t at) { return (set >> at & 1U) != 0; }
  static std::uint32_t place(const RunState& state, std::size_t group) { return state.places >> (4 * group) & 15U; }

  [[nodiscard]] std::uint32_t bytes_of(std::uint32_t at) const {
    const BudgetNode& node = problem_.nodes[NodeId(at)];
    return node.view_of ? bytes_of(node.view_of->value()) : at;
  }

  // Whether an entry is the output of a run, or a part of it.
  [[nodiscard]] bool is_made_by(std::uint32_t entry, std::uint32_t run) const {
    return entry == run || problem_.nodes[NodeId(entry)].part_of == NodeId(run);
  }

  // The run that overwrites bytes.
  [[nodiscard]] std::optional<std::uint32_t> writer_of(std::uint32_t bytes) const {
    for (std::uint32_t at = 0; at < count(); ++at) {
      const BudgetNode& node = problem_.nodes[NodeId(at)];
      if (node.overwrites && bytes_of(node.overwrites->value()) == bytes)
        return node.part_of.value_or(NodeId(at)).value();
    }
    return std::nullopt;
  }

  [[nodiscard]] bool updates_state(std::uint32_t run) const {
    for (std::uint32_t at = 0; at < count(); ++at) {
      if (is_made_by(at, run) && is_of_state(at)) return true;
    }
    return false;
  }

  // Whether an output is in the bytes of a state.
  [[nodiscard]] bool is_of_state(std::uint32_t at) const {
    const BudgetNode& node = problem_.nodes[NodeId(at)];
    if (!node.overwrites) return false;
    const std::uint32_t bytes = bytes_of(node.overwrites->value());
    return problem_.nodes[NodeId(bytes)].is_state || is_of_state(bytes);
  }

  // The bytes of a state hold its first content until a run overwrites it, and then the content of that run.
  [[nodiscard]] bool exists(const RunState& state, std::uint32_t bytes) const {
    const bool is_state = problem_.nodes[NodeId(bytes)].is_state;
    if (!is_state && !is_of_state(bytes)) return has(state.kept, bytes);
    const std::optional<std::uint32_t> writer = writer_of(bytes);
    const std::uint32_t maker = problem_.nodes[NodeId(bytes)].part_of.value_or(NodeId(bytes)).value();
    return (is_state || has(state.ran, maker)) && !(writer && has(state.ran, *writer));
  }

  bool advance_group(RunState& state, std::uint32_t at) const {
    for (std::size_t group = 0; group < problem_.groups.size(); ++group) {
      const std::vector<NodeId>& agreed = problem_.groups[group];
      if (std::find(agreed.begin(), agreed.end(), NodeId(at)) == agreed.end()) continue;
      const std::uint32_t next = place(state, group);
      if (next >= agreed.size() || agreed[next] != NodeId(at)) return false;
      state.places += 1U << (4 * group);
    }
    return true;
  }

  const BudgetProblem& problem_;
  Bytes states_;
};

}  // namespace lowtide
