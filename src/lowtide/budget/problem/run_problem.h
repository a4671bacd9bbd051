// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lowtide/plan/budget_problem.h"

namespace lowtide::budget_internal {

// Rows of numbers, one after another in one vector.
class NumberRows {
 public:
  using Index = std::uint32_t;

  NumberRows() = default;
  // A row for each first number of a pair, with the second numbers in ascending order, each once.
  NumberRows(std::size_t rows, std::vector<std::pair<Index, Index>> pairs);

  [[nodiscard]] std::span<const Index> row(Index at) const {
    return {numbers_.data() + begin_[at], numbers_.data() + begin_[at + 1]};
  }
  [[nodiscard]] bool is_empty() const { return numbers_.empty(); }

 private:
  std::vector<std::size_t> begin_;
  std::vector<Index> numbers_;
};

// A budget problem in the form that the searches work on. Entries keep their numbers, and only two kinds are left:
// runs, and the parts that they make. Views are replaced by what they name. States are always live, so their bytes are
// taken off the budget, and reading them depends on nothing.
//
// An *entry* below is the output of a run, with the number of that run, or a part.
class RunProblem {
 public:
  using Index = std::uint32_t;
  static constexpr Index kNone = 0xFFFFFFFF;

  explicit RunProblem(const BudgetProblem& problem);

  // The number of all entries, also of views and states.
  [[nodiscard]] std::size_t count() const { return size.size(); }
  [[nodiscard]] std::size_t run_count() const { return run_count_; }
  [[nodiscard]] bool is_run(Index node) const { return owner_[node] == node; }

  // The entries that a run reads, ascending.
  [[nodiscard]] std::span<const Index> inputs(Index run) const { return inputs_.row(run); }
  // The runs that read an entry, ascending.
  [[nodiscard]] std::span<const Index> readers(Index entry) const { return readers_.row(entry); }
  [[nodiscard]] std::span<const Index> parts(Index run) const { return parts_.row(run); }
  // The run that makes an entry. kNone for a view or a state.
  [[nodiscard]] Index owner(Index entry) const { return owner_[entry]; }
  // 0 for the output of a run, and 1, 2, ... for its parts.
  [[nodiscard]] std::uint32_t slot(Index entry) const { return slot_[entry]; }
  [[nodiscard]] std::size_t most_parts() const { return most_parts_; }
  // Calls act(entry) for the output of a run and its parts.
  template <typename Act>
  void for_each_entry(Index run, Act act) const {
    act(run);
    if (most_parts_ == 0) return;
    for (Index part : parts(run)) act(part);
  }

  // All runs of a reader come before the first run of each of its writers. The entries of a group that has each of them
  // once are such pairs.
  [[nodiscard]] std::span<const Index> writers_after(Index reader) const { return writers_.row(reader); }
  [[nodiscard]] std::span<const Index> readers_before(Index writer) const { return before_.row(writer); }
  // The entries that a run writes over, ascending, and the run that writes over an entry, or kNone. Without states.
  [[nodiscard]] std::span<const Index> overwritten_by(Index run) const { return overwritten_.row(run); }
  [[nodiscard]] Index overwriter_of(Index entry) const { return overwriter_[entry]; }
  // The groups that have an entry more than once, and by run its group, or kNone.
  [[nodiscard]] const std::vector<std::vector<Index>>& groups() const { return groups_; }
  [[nodiscard]] Index group_of(Index run) const { return group_of_[run]; }
  // Whether a run is subject to anything of these.
  [[nodiscard]] bool is_ruled(Index run) const { return is_ruled_[run] != 0; }
  [[nodiscard]] bool has_rules() const { return has_rules_; }
  [[nodiscard]] bool has_seeds() const { return has_seeds_; }
  // Whether every run may happen at any time again, for its cost alone.
  [[nodiscard]] bool is_free() const { return !has_rules_ && !has_seeds_ && !has_once_; }

  std::vector<std::int64_t> size;      // by entry: bytes
  std::vector<std::int64_t> own_load;  // by run: bytes that it takes beside its inputs and what else is live
  std::vector<std::int64_t> cost;      // by run
  std::vector<std::int64_t> seed;      // by run: bytes that are live from its first run to its last one, if it has two
  std::vector<char> is_output;         // by entry: 0 or 1
  std::vector<char> runs_once;         // by run: 0 or 1
  std::int64_t budget = 0;             // without the bytes of states, so it may be negative
  std::int64_t state_bytes = 0;
  std::int64_t base_cost = 0;  // of one run of each run

 private:
  void find_entries(const BudgetProblem& problem, const EntryBytes& facts);
  void find_reads(const BudgetProblem& problem, const EntryBytes& facts);
  void find_rules(const BudgetProblem& problem, const EntryBytes& facts);

  NumberRows inputs_;
  NumberRows readers_;
  NumberRows parts_;
  NumberRows writers_;
  NumberRows before_;
  std::vector<Index> owner_;
  std::vector<std::uint32_t> slot_;
  NumberRows overwritten_;
  std::vector<Index> overwriter_;
  std::vector<Index> group_of_;
  std::vector<std::vector<Index>> groups_;
  std::vector<char> is_ruled_;
  std::size_t run_count_ = 0;
  std::size_t most_parts_ = 0;
  bool has_rules_ = false;
  bool has_seeds_ = false;
  bool has_once_ = false;
};

using Runs = std::vector<RunProblem::Index>;

// By run: its place in an order. 0 for everything else.
[[nodiscard]] std::vector<std::uint32_t> positions_in(const RunProblem& problem, const Runs& order);

}  // namespace lowtide::budget_internal
