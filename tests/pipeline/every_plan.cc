// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/pipeline/every_plan.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lowtide/target/cost.h"

namespace lowtide::testing {
namespace {

class Search {
 public:
  Search(const Graph& graph, const Target& target, std::size_t capacity, std::size_t most_states, bool has_link)
      : graph_(graph), target_(target), capacity_(capacity), most_states_(most_states), has_link_(has_link) {
    for (TensorId id : all_ids<TensorId>(graph.tensors().size())) {
      Content content;
      if (!graph.tensor(id).producer) content = fresh(id);
      for (std::uint8_t byte : content) outside_[byte] = true;
      contents_.push_back(std::move(content));
    }
    for (NodeId id : all_ids<NodeId>(graph.nodes().size())) make_contents(id);
  }

  EveryPlan solve() {
    reach({Content(capacity_, 0), 0}, 0);
    while (!open_.empty()) {
      if (times_.size() >= most_states_) return {};
      const auto [time, key] = open_.top();
      open_.pop();
      if (times_[key] != time) continue;
      const State state = state_of(key);
      if (is_end(state)) return {.is_complete = true, .least_time = time};
      for (NodeId id : all_ids<NodeId>(graph_.nodes().size())) try_node(state, id, time);
      for (TensorId id : all_ids<TensorId>(contents_.size())) {
        try_copies(state, id, time);
        try_return(state, id, time);
      }
    }
    return {.is_complete = true, .least_time = std::nullopt};
  }

 private:
  static constexpr std::size_t kMostNodesWithCopies = 4;
  using Content = std::vector<std::uint8_t>;  // 0: nothing that is useful
  struct State {
    Content cells;
    std::uint32_t has_run = 0;  // one bit per node
  };
  struct Range {
    std::size_t begin;
    std::size_t size;
    [[nodiscard]] bool overlaps(const Range& other) const {
      return begin < other.begin + other.size && other.begin < begin + size;
    }
  };

  // One run of a node, with the places of its results and its scratch.
  struct Run {
    NodeId node;
    const Kernel& kernel;
    std::int64_t end;
    std::vector<Range> outputs = {};
    Range scratch = {0, 0};
  };

  static std::size_t size_of(Bytes bytes) { return static_cast<std::size_t>(bytes.count()); }

  // Whole units of the alignment.
  Content fresh(TensorId id) {
    Content content;
    const Bytes size = round_up(graph_.tensor(id).size, target_.machine.regions[0].alignment);
    for (std::size_t at = 0; at < size_of(size); ++at) content.push_back(++last_);
    return content;
  }

  void make_contents(NodeId id) {
    const Node& node = graph_.node(id);
    const std::string& type = graph_.op(id).type;
    Content all;
    for (const std::optional<TensorId>& input : node.inputs) {
      all.insert(all.end(), contents_[*input].begin(), contents_[*input].end());
    }
    std::size_t from = 0;
    if (const auto* starts = find_attribute<std::vector<std::int64_t>>(node.attributes, "starts")) {
      from = static_cast<std::size_t>(starts->front());
    }
    is_view_.push_back(type == "Identity" || type == "Reshape" || type == "Slice" || type == "Split" ||
                       type == "Concat");
    for (const std::optional<TensorId>& output : node.outputs) {
      const bool is_part = type == "Slice" || type == "Split";
      const std::size_t size = is_part ? size_of(graph_.tensor(*output).size) : all.size();
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>(is_view_[id] ? from : 0);
      contents_[*output] = is_view_[id] ? Content(begin, begin + static_cast<std::ptrdiff_t>(size)) : fresh(*output);
      from += size;
    }
  }

  // Whether it is an input, or bytes of one. The caller holds them, in a row.
  [[nodiscard]] bool is_outside(TensorId id) const {
    const Content& content = contents_[id];
    const auto is_gap = [](std::uint8_t a, std::uint8_t b) { return a + 1 != b; };
    return std::all_of(content.begin(), content.end(), [&](std::uint8_t byte) { return outside_[byte]; }) &&
           std::adjacent_find(content.begin(), content.end(), is_gap) == content.end();
  }
  [[nodiscard]] bool is_in_arena(const Content& cells, TensorId id) const {
    for (std::size_t at = 0; at < capacity_; ++at) {
      if (is_at(cells, id, at)) return true;
    }
    return false;
  }
  [[nodiscard]] bool is_at(const Content& cells, TensorId id, std::size_t at) const {
    return may_begin(id, at) &&
           std::equal(contents_[id].begin(), contents_[id].end(), cells.begin() + static_cast<std::ptrdiff_t>(at));
  }
  static void write(Content& cells, const Content& content, std::size_t at) {
    std::copy(content.begin(), content.end(), cells.begin() + static_cast<std::ptrdiff_t>(at));
  }

  [[nodiscard]] std::size_t alignment() const { return size_of(target_.machine.regions[0].alignment); }
  [[nodiscard]] bool may_begin(TensorId id, std::size_t at) const {
    return at % alignment() == 0 && at + contents_[id].size() <= capacity_;
  }

  void try_node(const State& state, NodeId id, std::int64_t time) {
    const OperatorTraits& traits = graph_.op(id).traits;
    if (is_view_[id] || (!traits.is_pure && (state.has_run >> id.value() & 1U) != 0)) return;
    for (const Kernel& kernel : target_.catalogue->kernels(graph_, id)) {
      Run run{.node = id, .kernel = kernel, .end = time + estimated_picoseconds(graph_, id, kernel)};
      place_outputs(state, run);
    }
  }

  void place_outputs(const State& state, Run& run) {
    const Node& node = graph_.node(run.node);
    if (run.outputs.size() == node.outputs.size()) return place_scratch(state, run);
    const TensorId output = *node.outputs[run.outputs.size()];
    for (std::size_t at = 0; at < capacity_; ++at) {
      const Range range{at, contents_[output].size()};
      const auto meets = [&](const Range& other) { return range.overlaps(other); };
      if (!may_begin(output, at) || std::any_of(run.outputs.begin(), run.outputs.end(), meets)) continue;
      run.outputs.push_back(range);
      place_outputs(state, run);
      run.outputs.pop_back();
    }
  }

  void place_scratch(const State& state, Run& run) {
    const std::size_t size = size_of(round_up(run.kernel.scratch, target_.machine.regions[0].alignment));
    if (size == 0) return finish(state, run);
    for (std::size_t at = 0; at + size <= capacity_; at += alignment()) {
      run.scratch = {at, size};
      const auto meets = [&](const Range& output) { return run.scratch.overlaps(output); };
      if (std::none_of(run.outputs.begin(), run.outputs.end(), meets)) finish(state, run);
    }
  }

  // Whether the operand exists somewhere where the run does not write, or writes over it in place.
  [[nodiscard]] bool can_read(const State& state, const Run& run, std::size_t input) const {
    const TensorId tensor = *graph_.node(run.node).inputs[input];
    if (is_outside(tensor)) return true;
    for (std::size_t at = 0; at < capacity_; ++at) {
      const Range range{at, contents_[tensor].size()};
      if (!is_at(state.cells, tensor, at) || (run.scratch.size > 0 && run.scratch.overlaps(range))) continue;
      bool is_kept = true;
      for (std::size_t output = 0; output < run.outputs.size(); ++output) {
        const std::pair<int, int> pair(static_cast<int>(input), static_cast<int>(output));
        const std::vector<std::pair<int, int>>& rule = run.kernel.in_place;
        const bool is_in_place =
            run.outputs[output].begin == at && std::find(rule.begin(), rule.end(), pair) != rule.end();
        is_kept = is_kept && (is_in_place || !run.outputs[output].overlaps(range));
      }
      if (is_kept) return true;
    }
    return false;
  }

  void finish(const State& state, const Run& run) {
    const Node& node = graph_.node(run.node);
    for (std::size_t input = 0; input < node.inputs.size(); ++input) {
      if (!can_read(state, run, input)) return;
    }
    State next = state;
    next.has_run |= 1U << run.node.value();
    write(next.cells, Content(run.scratch.size, 0), run.scratch.begin);
    for (std::size_t at = 0; at < run.outputs.size(); ++at) {
      write(next.cells, contents_[*node.outputs[at]], run.outputs[at].begin);
    }
    reach(std::move(next), run.end);
  }

  // Views are copied by kernels and operands of a concat by copies. Plans may copy other tensors too.
  [[nodiscard]] bool may_copy(TensorId id) const {
    const auto is_concat = [&](NodeId reader) { return graph_.op(reader).type == "Concat"; };
    const std::optional<NodeId>& producer = graph_.tensor(id).producer;
    return graph_.nodes().size() <= kMostNodesWithCopies || (producer && is_view_[*producer]) ||
           std::any_of(graph_.readers(id).begin(), graph_.readers(id).end(), is_concat);
  }

  void try_copies(const State& state, TensorId id, std::int64_t time) {
    if (!may_copy(id)) return;
    const std::size_t size = contents_[id].size();
    for (std::size_t from = 0; from < capacity_; ++from) {
      if (is_outside(id) ? from != 0 : !is_at(state.cells, id, from)) continue;
      for (std::size_t to = 0; to < capacity_; ++to) {
        if (!may_begin(id, to) || (!is_outside(id) && Range{from, size}.overlaps({to, size}))) continue;
        State next = state;
        write(next.cells, contents_[id], to);
        reach(std::move(next), time);
      }
    }
  }

  void try_return(const State& state, TensorId id, std::int64_t time) {
    const std::optional<NodeId>& producer = graph_.tensor(id).producer;
    if (!has_link_ || !producer || (state.has_run >> producer->value() & 1U) == 0) return;
    for (std::size_t to = 0; to < capacity_; ++to) {
      if (!may_begin(id, to)) continue;
      State next = state;
      write(next.cells, contents_[id], to);
      reach(std::move(next), time);
    }
  }

  // Every node has run, and the outputs are in the arena.
  [[nodiscard]] bool is_end(const State& state) const {
    return state.has_run == (1U << graph_.nodes().size()) - 1 &&
           std::all_of(graph_.outputs().begin(), graph_.outputs().end(),
                       [&](TensorId id) { return is_in_arena(state.cells, id); });
  }

  // A concat has run once its result exists, and another view once its input does.
  void note_views(State& state) const {
    for (NodeId id : all_ids<NodeId>(graph_.nodes().size())) {
      if (!is_view_[id]) continue;
      const bool is_concat = graph_.op(id).type == "Concat";
      const TensorId whole = is_concat ? *graph_.node(id).outputs[0] : *graph_.node(id).inputs[0];
      if (is_outside(whole) || is_in_arena(state.cells, whole)) state.has_run |= 1U << id.value();
    }
  }

  void reach(State state, std::int64_t time) {
    Content useful(capacity_, 0);  // bytes of whole tensors; what is left of others is nothing
    for (TensorId id : all_ids<TensorId>(contents_.size())) {
      for (std::size_t at = 0; at < capacity_; ++at) {
        if (is_at(state.cells, id, at)) write(useful, contents_[id], at);
      }
    }
    note_views(state);
    std::uint64_t key = state.has_run;
    for (std::uint8_t byte : useful) key = key << 6U | byte;
    const auto [place, is_new] = times_.emplace(key, time);
    if (!is_new && place->second <= time) return;
    place->second = time;
    open_.emplace(time, key);
  }

  [[nodiscard]] State state_of(std::uint64_t key) const {
    State state{Content(capacity_, 0), 0};
    for (std::size_t at = capacity_; at-- > 0; key >>= 6U) state.cells[at] = key & 63U;
    state.has_run = static_cast<std::uint32_t>(key);
    return state;
  }

  const Graph& graph_;
  const Target& target_;
  const std::size_t capacity_;  // at most 9
  const std::size_t most_states_;
  const bool has_link_;
  std::uint8_t last_ = 0;
  std::vector<bool> outside_ = std::vector<bool>(256);  // by byte of content
  IdVector<TensorId, Content> contents_;
  IdVector<NodeId, char> is_view_;
  std::unordered_map<std::uint64_t, std::int64_t> times_;
  using Reached = std::pair<std::int64_t, std::uint64_t>;
  std::priority_queue<Reached, std::vector<Reached>, std::greater<>> open_;
};

}  // namespace

EveryPlan try_every_plan(const Graph& graph, const Target& target, std::size_t capacity, std::size_t most_states,
                         bool has_link) {
  return Search(graph, target, capacity, most_states, has_link).solve();
}

}  // namespace lowtide::testing
