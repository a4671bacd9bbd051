// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/budget/least_time.h"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <map>
#include <queue>
#include <utility>
#include <vector>

namespace lowtide {

class LeastTime::Machine {
 public:
  Machine(const BudgetProblem& problem, const TransferLink& link) : problem_(problem), link_(link) {
    for (std::uint32_t entry = 0; entry < count(); ++entry) {
      const BudgetNode& node = at(entry);
      if (node.is_state) states_ += node.size.count();
      for (NodeId read : node.reads) is_read_ |= bit(bytes_of(read));
      if (node.is_output) is_read_ |= bit(bytes_of(NodeId(entry)));
    }
  }

  // nullopt if there are more than `most_states` states, or nothing keeps the budget.
  std::optional<std::int64_t> search(std::size_t most_states) {
    reach({}, 0);
    while (!open_.empty()) {
      const auto [time, state] = open_.top();
      open_.pop();
      if (known_.at(state) != time) continue;
      if (is_done(state)) return time;
      if (known_.size() > most_states) return std::nullopt;
      expand(state, time);
    }
    is_impossible_ = true;
    return std::nullopt;
  }

  // Whether the search has found that nothing keeps the budget.
  [[nodiscard]] bool is_impossible() const { return is_impossible_; }

 private:
  static constexpr std::size_t kWorker = 0;
  static constexpr std::size_t kOut = 1;
  static constexpr std::size_t kIn = 2;
  static constexpr std::size_t kFetch = 3;  // and further ones
  static constexpr std::size_t kEngines = 5;

  // Bits by entry. At most one run, and one copy of each engine, is in progress; `left` is what it still takes.
  struct State {
    std::uint32_t ran = 0;                       // runs, and values that have been fetched
    std::uint32_t inside = 0;                    // in memory and complete
    std::uint32_t outside = 0;                   // a copy outside is complete and of the present output
    std::uint32_t reserved = 0;                  // its bytes are reserved for a copy in that has not begun
    std::uint32_t seeds = 0;                     // runs whose seed is kept
    std::array<std::uint8_t, 2> places{};        // how far each group is
    std::array<std::uint32_t, kEngines> busy{};  // the entry that runs, leaves, arrives
    std::array<std::int64_t, kEngines> left{};
    auto operator<=>(const State&) const = default;
  };

  [[nodiscard]] static std::uint32_t bit(std::uint32_t entry) { return 1U << entry; }
  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(problem_.nodes.size()); }
  [[nodiscard]] const BudgetNode& at(std::uint32_t entry) const { return problem_.nodes[NodeId(entry)]; }
  [[nodiscard]] bool is_fetched(std::uint32_t entry) const { return at(entry).fetched_over.has_value(); }

  [[nodiscard]] std::uint32_t bytes_of(NodeId entry) const {
    while (problem_.nodes[entry].view_of) entry = *problem_.nodes[entry].view_of;
    return entry.value();
  }

  // The run that writes over an entry.
  [[nodiscard]] std::optional<std::uint32_t> writer_of(std::uint32_t entry) const {
    for (std::uint32_t by = 0; by < count(); ++by) {
      if (at(by).overwrites && bytes_of(*at(by).overwrites) == entry)
        return at(by).part_of.value_or(NodeId(by)).value();
    }
    return std::nullopt;
  }

  // Whether an entry is in the bytes of a state.
  [[nodiscard]] bool is_in_state(std::uint32_t entry) const {
    if (!at(entry).overwrites) return false;
    const std::uint32_t bytes = bytes_of(*at(entry).overwrites);
    return at(bytes).is_state || is_in_state(bytes);
  }

  [[nodiscard]] bool updates_state(std::uint32_t run) const {
    for (std::uint32_t entry = 0; entry < count(); ++entry) {
      if ((made_by(run) & bit(entry)) != 0 && is_in_state(entry)) return true;
    }
    return false;
  }

  // What a run writes over, except states.
  [[nodiscard]] std::uint32_t overwritten_by(std::uint32_t run) const {
    std::uint32_t set = 0;
    for (std::uint32_t entry = 0; entry < count(); ++entry) {
      if ((made_by(run) & bit(entry)) == 0 || !at(entry).overwrites || is_in_state(entry)) continue;
      set |= bit(bytes_of(*at(entry).overwrites));
    }
    return set;
  }

  // The output of a run, and its parts.
  [[nodiscard]] std::uint32_t made_by(std::uint32_t run) const {
    std::uint32_t set = bit(run);
    for (std::uint32_t entry = 0; entry < count(); ++entry) set |= at(entry).part_of == NodeId(run) ? bit(entry) : 0;
    return set;
  }

  [[nodiscard]] std::uint32_t reads(std::uint32_t run) const {
    std::uint32_t set = 0;
    for (NodeId input : at(run).reads) {
      if (!at(bytes_of(input)).is_state) set |= bit(bytes_of(input));
    }
    return set;
  }

  // What nothing reads may come in without waiting in memory.
  [[nodiscard]] std::int64_t bytes(std::uint32_t entries) const {
    std::int64_t sum = 0;
    for (std::uint32_t entry = 0; entry < count(); ++entry) {
      const bool is_unread = is_fetched(entry) && (is_read_ & bit(entry)) == 0;
      if ((entries & bit(entry)) != 0 && !is_unread) sum += at(entry).size.count();
    }
    return sum;
  }

  // What occupies memory, complete or not.
  [[nodiscard]] std::uint32_t held(const State& state) const {
    std::uint32_t set = state.inside | state.reserved;
    for (std::uint32_t entry = 0; entry < count(); ++entry) {
      if (state.busy[kWorker] == bit(entry)) set |= made_by(entry);
    }
    for (std::size_t engine = kIn; engine < kEngines; ++engine) set |= state.busy[engine];
    return set;
  }

  [[nodiscard]] bool fits(const State& state, std::int64_t extra) const {
    std::int64_t sum = bytes(held(state)) + states_ + extra;
    for (std::uint32_t run = 0; run < count(); ++run) {
      sum += (state.seeds & bit(run)) != 0 ? at(run).seed.count() : 0;
    }
    return sum <= problem_.budget.count();
  }

  [[nodiscard]] std::int64_t copy_time(std::uint32_t entry) const {
    std::int64_t rate = link_.bytes_per_second;
    std::int64_t latency = link_.latency_nanoseconds;
    if (is_fetched(entry)) {
      rate = problem_.links[*at(entry).fetched_over].bytes_per_second;
      latency = problem_.links[*at(entry).fetched_over].latency_nanoseconds;
    }
    return latency + (at(entry).size.count() * 1'000'000'000 + rate - 1) / rate;
  }

  [[nodiscard]] bool is_done(const State& state) const {
    for (std::uint32_t entry = 0; entry < count(); ++entry) {
      if (at(entry).is_run() && (state.ran & bit(entry)) == 0) return false;
      if (!at(entry).is_output) continue;
      const std::uint32_t output = bytes_of(NodeId(entry));
      if (!at(output).is_state && (state.inside & bit(output)) == 0) return false;
    }
    for (std::size_t group = 0; group < problem_.groups.size(); ++group) {
      if (state.places[group] != problem_.groups[group].size()) return false;
    }
    return fits(state, 0) && state.busy == std::array<std::uint32_t, kEngines>{};
  }

  void reach(const State& state, std::int64_t time) {
    const auto [found, is_new] = known_.try_emplace(state, time);
    if (!is_new && found->second <= time) return;
    found->second = time;
    open_.push({time, state});
  }

  void finish(State& state) const {
    for (std::size_t engine = 0; engine < kEngines; ++engine) {
      const std::uint32_t entry = state.busy[engine];
      if (entry == 0 || state.left[engine] > 0) continue;
      state.busy[engine] = 0;
      if (engine == kOut) {
        state.outside |= entry;
        continue;
      }
      state.inside |= entry;
      if (engine == kIn) continue;
      state.ran |= entry;
      if (engine == kWorker) finish_run(state, entry);
    }
  }

  void finish_run(State& state, std::uint32_t entry) const {
    for (std::uint32_t run = 0; run < count(); ++run) {
      if (bit(run) != entry) continue;
      state.inside |= made_by(run);
      state.inside &= ~overwritten_by(run);
      state.outside &= ~overwritten_by(run);
    }
  }

  void begin(State state, std::size_t engine, std::uint32_t entry, std::int64_t takes, std::int64_t time) {
    state.busy[engine] = bit(entry);
    state.left[engine] = takes;
    if (engine == kWorker && !fits(state, at(entry).extra.count())) return;
    finish(state);
    reach(state, time);
  }

  bool advance_groups(State& state, std::uint32_t run) const {
    for (std::size_t group = 0; group < problem_.groups.size(); ++group) {
      const std::vector<NodeId>& agreed = problem_.groups[group];
      if (std::find(agreed.begin(), agreed.end(), NodeId(run)) == agreed.end()) continue;
      if (state.places[group] >= agreed.size() || agreed[state.places[group]] != NodeId(run)) return false;
      ++state.places[group];
    }
    return true;
  }

  // Whether what must come before or after a run permits it now.
  [[nodiscard]] bool keeps_order(const State& state, std::uint32_t run) const {
    for (const BeforeEdge& edge : problem_.before) {
      if (edge.reader == NodeId(run) && (state.ran & bit(edge.writer.value())) != 0) return false;
    }
    for (NodeId read : at(run).reads) {
      const std::optional<std::uint32_t> writer = writer_of(bytes_of(read));
      if (writer && *writer != run && (state.ran & bit(*writer)) != 0) return false;
    }
    return true;
  }

  void begin_run(const State& state, std::uint32_t run, std::int64_t time) {
    const bool is_again = (state.ran & bit(run)) != 0;
    const bool is_forbidden =
        at(run).runs_once || updates_state(run) || (at(run).seed > Bytes(0) && (state.seeds & bit(run)) == 0);
    if (is_again && is_forbidden) return;
    if ((held(state) & made_by(run)) != 0 || (reads(run) & ~state.inside) != 0 || !keeps_order(state, run)) return;
    if ((state.busy[kOut] & overwritten_by(run)) != 0) return;
    State running = state;
    if (!advance_groups(running, run)) return;
    running.outside &= ~made_by(run);  // a copy is of one run
    const std::int64_t takes = at(run).cost * link_.nanoseconds_per_cost;
    begin(running, kWorker, run, takes, time);
    if (is_again || at(run).seed == Bytes(0)) return;
    running.seeds |= bit(run);
    begin(running, kWorker, run, takes, time);
  }

  void expand(const State& state, std::int64_t time) {
    // What a run reads and what leaves must stay.
    std::uint32_t pinned = state.busy[kOut];
    for (std::uint32_t run = 0; run < count(); ++run) pinned |= state.busy[kWorker] == bit(run) ? reads(run) : 0;
    for (std::uint32_t entry = 0; entry < count(); ++entry) {
      const std::uint32_t it = bit(entry);
      if ((state.seeds & it) != 0 && state.busy[kWorker] == 0) {
        State dropped = state;
        dropped.seeds &= ~it;
        reach(dropped, time);
      }
      if ((state.inside & it) != 0 && (pinned & it) == 0) {
        State dropped = state;
        dropped.inside &= ~it;
        reach(dropped, time);
      }
      if (at(entry).is_run() && !is_fetched(entry) && state.busy[kWorker] == 0) begin_run(state, entry, time);
      if (!is_fetched(entry) && state.busy[kOut] == 0 && (state.inside & it) != 0 && (state.outside & it) == 0) {
        begin(state, kOut, entry, copy_time(entry), time);
      }
      // Bytes are reserved between two runs only, because the load of a run must not depend on time.
      const bool may_come = is_fetched(entry) || (state.outside & it) != 0;
      if (state.busy[kWorker] == 0 && may_come && (held(state) & it) == 0) {
        State reserved = state;
        reserved.reserved |= it;
        if (fits(reserved, 0)) reach(reserved, time);
      }
      const std::size_t engine = is_fetched(entry) ? kFetch + *at(entry).fetched_over : kIn;
      if (state.busy[engine] == 0 && (state.reserved & it) != 0) {
        State arriving = state;
        arriving.reserved &= ~it;
        begin(arriving, engine, entry, copy_time(entry), time);
      }
    }
    pass_time(state, time);
  }

  void pass_time(const State& state, std::int64_t time) {
    std::int64_t step = std::numeric_limits<std::int64_t>::max();
    for (std::size_t engine = 0; engine < kEngines; ++engine) {
      if (state.busy[engine] != 0) step = std::min(step, state.left[engine]);
    }
    if (step == std::numeric_limits<std::int64_t>::max()) return;
    State next = state;
    for (std::size_t engine = 0; engine < kEngines; ++engine) {
      if (next.busy[engine] != 0) next.left[engine] -= step;
    }
    finish(next);
    reach(next, time + step);
  }

  const BudgetProblem& problem_;
  const TransferLink& link_;
  std::int64_t states_ = 0;
  std::uint32_t is_read_ = 0;
  std::map<State, std::int64_t> known_;
  std::priority_queue<std::pair<std::int64_t, State>, std::vector<std::pair<std::int64_t, State>>, std::greater<>>
      open_;
  bool is_impossible_ = false;
};

LeastTime::LeastTime(const BudgetProblem& problem, const TransferLink& link)
    : machine_(std::make_unique<Machine>(problem, link)) {}
LeastTime::~LeastTime() = default;
std::optional<std::int64_t> LeastTime::search(std::size_t most_states) { return machine_->search(most_states); }
bool LeastTime::is_impossible() const { return machine_->is_impossible(); }

}  // namespace lowtide
