// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/plain/recurrent/recurrent.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "lowtide/kernels/common/attributes.h"
#include "lowtide/kernels/common/ceil_div.h"
#include "lowtide/kernels/common/extents.h"
#include "lowtide/kernels/common/plain_family.h"
#include "lowtide/kernels/common/plain_kernel.h"
#include "lowtide/kernels/common/team_parts.h"
#include "lowtide/kernels/plain/products/row_dots.h"
#include "lowtide/kernels/plain/recurrent/recurrent_cell.h"

namespace lowtide::kernels_internal {
namespace {

// The operands, by their numbers in Node::inputs.
enum Operand : std::uint8_t { kX, kW, kR, kB, kLengths, kInitialH, kInitialC, kPeepholes };

// Where the row of a sequence is: [length, batch] or [batch, length], and [directions, batch] or [batch, directions].
struct Places {
  RecurrentExtents of;
  bool is_batch_first = false;

  [[nodiscard]] std::int64_t x(std::int64_t step, std::int64_t batch) const {
    return (is_batch_first ? batch * of.length + step : step * of.batch + batch) * of.input;
  }
  [[nodiscard]] std::int64_t state(std::int64_t direction, std::int64_t batch) const {
    return (is_batch_first ? batch * of.directions + direction : direction * of.batch + batch) * of.hidden;
  }
  [[nodiscard]] std::int64_t y(std::int64_t step, std::int64_t direction, std::int64_t batch) const {
    if (is_batch_first) return (batch * of.length + step) * of.directions * of.hidden + direction * of.hidden;
    return step * of.directions * of.batch * of.hidden + state(direction, batch);
  }
};

// Elements of scratch for one state.
std::int64_t scratch_of_state(std::int64_t rows, std::int64_t hidden) { return rows + 3 * hidden; }
// Sequences that are computed step by step together.
constexpr auto kMostSequences = static_cast<std::int64_t>(kMostStates);
// Inputs that are multiplied at once, if one step of all sequences has fewer. With 512 elements each, they fill half of
// a cache of 32 KiB.
constexpr std::int64_t kInputsAtOnce = 8;

// The sequences of one direction that are computed on one thread, or one after another on all threads.
struct SequenceGroup {
  std::int64_t direction = 0;
  Interval<std::int64_t> batch;
  float* scratch = nullptr;
};

// Computes at most kMostStates sequences, step by step.
class SequenceRunner {
 public:
  SequenceRunner(const RecurrentParameters& parameters, const RecurrentExtents& of, const Operands& operands,
                 const SequenceGroup& group)
      : parameters_(parameters),
        of_(of),
        operands_(operands),
        places_{of, parameters.is_batch_first},
        direction_(group.direction),
        rows_(gates_of(parameters.cell) * of.hidden),
        weights_{.w = part(kW, rows_ * of.input),
                 .r = part(kR, rows_ * of.hidden),
                 .bias = part(kB, 2 * rows_),
                 .peepholes = part(kPeepholes, 3 * of.hidden),
                 .activations = parameters.activations.data() +
                                static_cast<std::size_t>(direction_) * functions_of(parameters.cell)} {
    float* next = group.scratch;
    for (std::int64_t batch = group.batch.begin; batch < group.batch.end; ++batch) {
      states_[count_] = {
          .h = next, .c = next + of.hidden, .product = next + 3 * of.hidden, .reset = next + 2 * of.hidden};
      batch_[count_] = batch;
      valid_[count_++] = valid_steps(batch);
      next += scratch_of_state(rows_, of.hidden);
    }
    inputs_ = next;
  }

  void run(Team& team) {
    for (std::size_t at = 0; at < count_; ++at) begin_sequence(at);
    const std::int64_t longest =
        *std::max_element(valid_.begin(), valid_.begin() + static_cast<std::ptrdiff_t>(count_));
    const std::int64_t steps = std::max<std::int64_t>(kInputsAtOnce / static_cast<std::int64_t>(count_), 1);
    for (std::int64_t first = 0; first < longest; first += steps) {
      const Interval<std::int64_t> numbers{first, std::min(first + steps, longest)};
      multiply_inputs(numbers, team);
      for (std::int64_t number = numbers.begin; number < numbers.end; ++number) run_step(numbers, number, team);
    }
    for (std::size_t at = 0; at < count_; ++at) end_sequence(at);
  }

 private:
  [[nodiscard]] const float* part(Operand operand, std::int64_t count) const {
    const bool is_given = has_operand(operands_.reads, operand);
    return is_given ? elements<float>(operands_.reads[operand]) + direction_ * count : nullptr;
  }

  [[nodiscard]] std::int64_t valid_steps(std::int64_t batch) const {
    const bool has_lengths = has_operand(operands_.reads, kLengths);
    return has_lengths ? elements<std::int32_t>(operands_.reads[kLengths])[batch] : of_.length;
  }

  [[nodiscard]] float* all_results() const {
    return has_operand(operands_.writes, 0) ? mutable_elements<float>(operands_.writes[0]) : nullptr;
  }

  // Which step of X a sequence takes as its step `number`.
  [[nodiscard]] std::int64_t step_of(std::size_t at, std::int64_t number) const {
    const bool runs_backward = parameters_.runs_backward || direction_ == 1;
    return runs_backward ? valid_[at] - 1 - number : number;
  }

  [[nodiscard]] float* input_of(Interval<std::int64_t> numbers, std::int64_t number, std::size_t at) const {
    const std::int64_t slot = (number - numbers.begin) * static_cast<std::int64_t>(count_);
    return inputs_ + (slot + static_cast<std::int64_t>(at)) * rows_;
  }

  void begin_state(Operand initial, std::int64_t from, float* state) const {
    if (has_operand(operands_.reads, initial)) {
      std::copy_n(elements<float>(operands_.reads[initial]) + from, of_.hidden, state);
    } else {
      std::fill_n(state, of_.hidden, 0.0F);
    }
  }

  void begin_sequence(std::size_t at) const {
    const std::int64_t from = places_.state(direction_, batch_[at]);
    begin_state(kInitialH, from, states_[at].h);
    begin_state(kInitialC, from, states_[at].c);
  }

  // Products of w with the inputs of several steps, so that w is read once for all of them.
  void multiply_inputs(Interval<std::int64_t> numbers, Team& team) const {
    std::array<DotColumn, kMostStates> columns;
    std::size_t count = 0;
    for (std::int64_t number = numbers.begin; number < numbers.end; ++number) {
      for (std::size_t at = 0; at < count_; ++at) {
        if (number >= valid_[at]) continue;
        const float* x = elements<float>(operands_.reads[kX]) + places_.x(step_of(at, number), batch_[at]);
        columns[count++] = {x, input_of(numbers, number, at)};
      }
    }
    write_dots({weights_.w, of_.input, {0, rows_}}, std::span(columns).first(count), team);
  }

  void run_step(Interval<std::int64_t> numbers, std::int64_t number, Team& team) const {
    std::array<RecurrentState, kMostStates> active;
    std::size_t count = 0;
    for (std::size_t at = 0; at < count_; ++at) {
      if (number >= valid_[at]) continue;
      active[count] = states_[at];
      active[count++].gates = input_of(numbers, number, at);
    }
    RecurrentWeights weights = weights_;
    weights.is_backward = number % 2 == 1;
    run_recurrent_step(parameters_, weights, of_.hidden, std::span(active).first(count), team);
    float* const y = all_results();
    if (y == nullptr) return;
    for (std::size_t at = 0; at < count_; ++at) {
      if (number >= valid_[at]) continue;
      std::copy_n(states_[at].h, of_.hidden, y + places_.y(step_of(at, number), direction_, batch_[at]));
    }
  }

  // Steps behind the last valid one are 0.
  void end_sequence(std::size_t at) const {
    float* const y = all_results();
    for (std::int64_t step = valid_[at]; y != nullptr && step < of_.length; ++step) {
      std::fill_n(y + places_.y(step, direction_, batch_[at]), of_.hidden, 0.0F);
    }
    const std::array<const float*, 2> last{states_[at].h, states_[at].c};
    for (std::size_t state = 0; state < 2; ++state) {
      if (!has_operand(operands_.writes, 1 + state)) continue;
      float* const to = mutable_elements<float>(operands_.writes[1 + state]);
      std::copy_n(last[state], of_.hidden, to + places_.state(direction_, batch_[at]));
    }
  }

  const RecurrentParameters& parameters_;
  const RecurrentExtents& of_;
  const Operands& operands_;
  Places places_;
  std::int64_t direction_;
  std::int64_t rows_;
  RecurrentWeights weights_;
  std::size_t count_ = 0;
  std::array<RecurrentState, kMostStates> states_{};
  std::array<std::int64_t, kMostStates> batch_{};
  std::array<std::int64_t, kMostStates> valid_{};  // steps
  float* inputs_ = nullptr;
};

bool has_extents(const Operands& operands, std::size_t at, const Extents& extents) {
  return !has_operand(operands.reads, at) || std::ranges::equal(extents_of(operands.reads[at]), extents.values());
}

// From the extents of x and r.
RecurrentExtents extents_with(const auto& x, const auto& r, bool is_batch_first) {
  return {.length = x[is_batch_first ? 1 : 0],
          .batch = x[is_batch_first ? 0 : 1],
          .input = x[2],
          .directions = r[0],
          .hidden = r[2]};
}

// Returns nullopt if the operands do not agree.
std::optional<RecurrentExtents> recurrent_extents(const RecurrentParameters& parameters, const Operands& operands) {
  const Extents x(extents_of(operands.reads[kX]));
  const Extents r(extents_of(operands.reads[kR]));
  if (x.rank() != 3 || r.rank() != 3) return std::nullopt;
  const bool is_batch_first = parameters.is_batch_first;
  const RecurrentExtents of = extents_with(x, r, is_batch_first);
  const std::int64_t gates = gates_of(parameters.cell);
  const Extents state =
      is_batch_first ? Extents{of.batch, of.directions, of.hidden} : Extents{of.directions, of.batch, of.hidden};
  const bool agrees =
      parameters.activations.size() == static_cast<std::size_t>(of.directions) * functions_of(parameters.cell) &&
      has_extents(operands, kW, {of.directions, gates * of.hidden, of.input}) &&
      has_extents(operands, kR, {of.directions, gates * of.hidden, of.hidden}) &&
      has_extents(operands, kB, {of.directions, 2 * gates * of.hidden}) &&
      has_extents(operands, kLengths, {of.batch}) && has_extents(operands, kInitialH, state) &&
      has_extents(operands, kInitialC, state) && has_extents(operands, kPeepholes, {of.directions, 3 * of.hidden});
  return agrees ? std::optional(of) : std::nullopt;
}

RunStatus set_recurrent_extents(const RecurrentParameters& parameters, const RecurrentExtents& of,
                                const Operands& operands) {
  const bool is_batch_first = parameters.is_batch_first;
  const Extents all = is_batch_first ? Extents{of.batch, of.length, of.directions, of.hidden}
                                     : Extents{of.length, of.directions, of.batch, of.hidden};
  const Extents last =
      is_batch_first ? Extents{of.batch, of.directions, of.hidden} : Extents{of.directions, of.batch, of.hidden};
  for (std::size_t at = 0; at < operands.writes.size(); ++at) {
    if (!is_present(operands.writes[at])) continue;
    const RunStatus status = set_extents(operands.writes[at], at == 0 ? all : last);
    if (status.code != RunCode::ok) return status;
  }
  return {};
}

// Both directions, and parts of a batch, can run side by side. Each thread has scratch for one of them. One thread runs
// the halves of a batch one after another, so that they share scratch.
std::int64_t parts_of_batch(const RecurrentExtents& of, int threads) {
  const int most = of.directions == 2 ? threads / 2 : std::max(threads, 2);
  return std::clamp<std::int64_t>(of.batch, 1, std::max(most, 1));
}
std::int64_t groups_of(const RecurrentExtents& of, int threads) { return of.directions * parts_of_batch(of, threads); }

SequenceGroup group_of(const RecurrentExtents& of, std::int64_t number, int threads) {
  const std::int64_t parts = parts_of_batch(of, threads);
  const std::int64_t part = number % parts;
  return {.direction = number / parts, .batch = {of.batch * part / parts, of.batch * (part + 1) / parts}};
}

// Elements of scratch of a group.
std::int64_t scratch_of_group(const RecurrentExtents& of, std::int64_t rows, int threads) {
  const std::int64_t in_group = ceil_div(of.batch, parts_of_batch(of, threads));
  const std::int64_t states = std::min(in_group, kMostSequences);
  const std::int64_t inputs = std::min(states * of.length, std::max(states, kInputsAtOnce));
  return states * scratch_of_state(rows, of.hidden) + inputs * rows;
}

void run_group(const RecurrentParameters& parameters, const RecurrentExtents& of, const Operands& operands,
               const SequenceGroup& group, Team& team) {
  for (std::int64_t begin = group.batch.begin; begin < group.batch.end; begin += kMostSequences) {
    const Interval<std::int64_t> batch{begin, std::min(begin + kMostSequences, group.batch.end)};
    SequenceRunner(parameters, of, operands, {group.direction, batch, group.scratch}).run(team);
  }
}

bool has_valid_lengths(const RecurrentExtents& of, const Operands& operands) {
  if (!has_operand(operands.reads, kLengths)) return true;
  const auto* lengths = elements<std::int32_t>(operands.reads[kLengths]);
  return std::all_of(lengths, lengths + of.batch,
                     [&](std::int32_t length) { return length >= 0 && length <= of.length; });
}

RunStatus run_recurrent(const RecurrentParameters& parameters, const Operands& operands, Team& team) {
  const std::optional<RecurrentExtents> of = recurrent_extents(parameters, operands);
  if (!of) return {RunCode::bad_extents, 0};
  const RunStatus status = set_recurrent_extents(parameters, *of, operands);
  if (status.code != RunCode::ok) return status;
  if (!has_valid_lengths(*of, operands)) return {RunCode::index_out_of_range, kLengths};
  if (of->batch == 0 || of->hidden == 0) return {};
  const std::int64_t rows = gates_of(parameters.cell) * of->hidden;
  const int threads = parameters.threads;
  const std::int64_t groups = groups_of(*of, threads);
  const auto run = [&](std::int64_t number, Team& of_group) {
    SequenceGroup group = group_of(*of, number, threads);
    group.scratch = reinterpret_cast<float*>(operands.scratch);
    if (threads > 1) group.scratch += number * scratch_of_group(*of, rows, threads);
    run_group(parameters, *of, operands, group, of_group);
    return RunCode::ok;
  };
  // A team with many more threads than groups shares the products of each group.
  if (groups > 1 && 2 * groups >= threads && threads > 1 && team.threads() > 1) {
    return {run_shares(team, static_cast<int>(groups),
                       [&](int share) {
                         SoloTeam alone;
                         return run(share, alone);
                       }),
            0};
  }
  for (std::int64_t number = 0; number < groups; ++number) run(number, team);
  return {};
}

template <Cell cell>
std::optional<std::vector<Activation>> activations_in(const Node& node) {
  static const std::vector<std::string> defaults = cell == Cell::lstm
                                                       ? std::vector<std::string>{"Sigmoid", "Tanh", "Tanh"}
                                                   : cell == Cell::gru ? std::vector<std::string>{"Sigmoid", "Tanh"}
                                                                       : std::vector<std::string>{"Tanh"};
  const bool is_double = text_attribute(node, "direction", "forward") == "bidirectional";
  return activations_of(node, defaults, defaults.size() * (is_double ? 2 : 1));
}

template <Cell cell>
std::string missing_recurrent(const Graph& graph, const Node& node) {
  if (!activations_in<cell>(node)) return "attribute 'activations' has an unknown name or a wrong number of names";
  const bool has_types = computed_type(graph, node, kLengths).value_or(DType::i32) == DType::i32;
  return has_types ? "" : "the lengths of the sequences are not i32";
}

template <Cell cell>
Bytes recurrent_scratch(const Graph& graph, const Node& node, int threads) {
  const Shape& x = graph.tensor(*node.inputs[kX]).shape;
  const Shape& r = graph.tensor(*node.inputs[kR]).shape;
  if (x.rank() != 3 || r.rank() != 3) return {};
  const RecurrentExtents of = extents_with(x, r, integer_attribute(node, "layout", 0) != 0);
  const std::int64_t shares = std::min<std::int64_t>(groups_of(of, threads), threads);
  return Bytes(shares * scratch_of_group(of, gates_of(cell) * of.hidden, threads)) * std::int64_t{sizeof(float)};
}

template <Cell cell>
PreparedResult prepare_recurrent(const PrepareInput& input) {
  const Node& node = node_of(input);
  const auto* clip = find_attribute<double>(node.attributes, "clip");
  RecurrentParameters parameters{.cell = cell, .activations = *activations_in<cell>(node)};
  if (clip != nullptr) parameters.clip = static_cast<float>(std::max(*clip, 0.0));
  parameters.runs_backward = text_attribute(node, "direction", "forward") == "reverse";
  parameters.is_batch_first = integer_attribute(node, "layout", 0) != 0;
  parameters.resets_after = integer_attribute(node, "linear_before_reset", 0) != 0;
  parameters.couples_gates = integer_attribute(node, "input_forget", 0) != 0;
  parameters.threads = input.threads;
  return plain_kernel(input, &run_recurrent, std::move(parameters));
}

template <Cell cell>
constexpr PlainOperator recurrent_row(std::string_view type) {
  return {on_floats(type), 3, &prepare_recurrent<cell>, &missing_recurrent<cell>, &recurrent_scratch<cell>, true, true};
}

// Sorted by type.
constexpr std::array kRecurrentTable{
    recurrent_row<Cell::gru>("GRU"),
    recurrent_row<Cell::lstm>("LSTM"),
    recurrent_row<Cell::rnn>("RNN"),
};
constexpr std::array kRecurrentOperators = operators_of(kRecurrentTable);

}  // namespace

Family recurrent_family() {
  return {.name = "recurrent",
          .operators = kRecurrentOperators,
          .offer = [](const OfferInput& input) { return offer_from(kRecurrentTable, input); },
          .prepare = [](const PrepareInput& input) { return prepare_from(kRecurrentTable, input); }};
}

}  // namespace lowtide::kernels_internal
