// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/plain/recurrent.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "lowtide/kernels/common/attributes.h"
#include "lowtide/kernels/common/extents.h"
#include "lowtide/kernels/common/plain_family.h"
#include "lowtide/kernels/common/plain_kernel.h"
#include "lowtide/kernels/plain/activation.h"
#include "lowtide/kernels/plain/dot.h"

namespace lowtide::kernels_internal {
namespace {

enum class Cell : std::uint8_t { gru, lstm, rnn };

constexpr std::int64_t gates_of(Cell cell) { return cell == Cell::lstm ? 4 : (cell == Cell::gru ? 3 : 1); }
constexpr std::size_t functions_of(Cell cell) { return cell == Cell::lstm ? 3 : (cell == Cell::gru ? 2 : 1); }

struct RecurrentParameters {
  Cell cell = Cell::rnn;
  std::vector<Activation> activations;  // those of the second direction follow those of the first
  std::optional<float> clip;
  bool runs_backward = false;  // the first direction
  bool is_batch_first = false;
  bool resets_after = false;   // linear_before_reset of GRU
  bool couples_gates = false;  // input_forget of LSTM
};

// The operands, by their numbers in Node::inputs.
enum Operand : std::uint8_t { kX, kW, kR, kB, kLengths, kInitialH, kInitialC, kPeepholes };

struct RecurrentExtents {
  std::int64_t length = 0;
  std::int64_t batch = 0;
  std::int64_t input = 0;
  std::int64_t directions = 0;
  std::int64_t hidden = 0;
};

// What one sequence has in one direction.
struct Sequence {
  const RecurrentParameters& parameters;
  RecurrentExtents of;
  const float* w = nullptr;          // [gates * hidden, input]
  const float* r = nullptr;          // [gates * hidden, hidden]
  const float* bias = nullptr;       // [2 * gates * hidden], or nullptr
  const float* peepholes = nullptr;  // [3 * hidden], or nullptr
  const Activation* activations = nullptr;
  float* h = nullptr;
  float* c = nullptr;
  float* gates = nullptr;    // [gates * hidden]
  float* scratch = nullptr;  // [hidden]

  [[nodiscard]] std::int64_t rows() const { return gates_of(parameters.cell) * of.hidden; }
  [[nodiscard]] float clipped(float x) const {
    return parameters.clip ? std::clamp(x, -*parameters.clip, *parameters.clip) : x;
  }
  [[nodiscard]] float from_input(const float* x, std::int64_t row) const {
    return dot(w + row * of.input, x, of.input) + (bias == nullptr ? 0 : bias[row]);
  }
  [[nodiscard]] float from_state(const float* state, std::int64_t row) const {
    return dot(r + row * of.hidden, state, of.hidden) + (bias == nullptr ? 0 : bias[rows() + row]);
  }
};

void step_rnn(const Sequence& sequence, const float* x) {
  for (std::int64_t row = 0; row < sequence.of.hidden; ++row) {
    sequence.gates[row] = sequence.from_input(x, row) + sequence.from_state(sequence.h, row);
  }
  for (std::int64_t at = 0; at < sequence.of.hidden; ++at) {
    sequence.h[at] = sequence.activations[0](sequence.clipped(sequence.gates[at]));
  }
}

// Gates: update z, reset r, hidden h.
void step_gru(const Sequence& sequence, const float* x) {
  const std::int64_t hidden = sequence.of.hidden;
  float* const update = sequence.gates;
  float* const reset = sequence.gates + hidden;
  for (std::int64_t row = 0; row < 2 * hidden; ++row) {
    const float sum = sequence.from_input(x, row) + sequence.from_state(sequence.h, row);
    sequence.gates[row] = sequence.activations[0](sequence.clipped(sum));
  }
  const bool resets_after = sequence.parameters.resets_after;
  for (std::int64_t at = 0; at < hidden; ++at) sequence.scratch[at] = reset[at] * sequence.h[at];
  for (std::int64_t at = 0; at < hidden; ++at) {
    const std::int64_t row = 2 * hidden + at;
    const float state =
        resets_after ? reset[at] * sequence.from_state(sequence.h, row) : sequence.from_state(sequence.scratch, row);
    sequence.gates[row] = sequence.activations[1](sequence.clipped(sequence.from_input(x, row) + state));
  }
  for (std::int64_t at = 0; at < hidden; ++at) {
    sequence.h[at] = (1 - update[at]) * sequence.gates[2 * hidden + at] + update[at] * sequence.h[at];
  }
}

// Gates: input, output, forget, cell.
void step_lstm(const Sequence& sequence, const float* x) {
  const std::int64_t hidden = sequence.of.hidden;
  for (std::int64_t row = 0; row < 4 * hidden; ++row) {
    sequence.gates[row] = sequence.from_input(x, row) + sequence.from_state(sequence.h, row);
  }
  const auto gate = [&](std::int64_t number, std::int64_t at, float cell) {
    const float* peepholes = sequence.peepholes;
    const float peep = peepholes == nullptr ? 0 : peepholes[number * hidden + at] * cell;
    return sequence.activations[0](sequence.clipped(sequence.gates[number * hidden + at] + peep));
  };
  for (std::int64_t at = 0; at < hidden; ++at) {
    float& cell = sequence.c[at];
    const float input = gate(0, at, cell);
    const float forget = sequence.parameters.couples_gates ? 1 - input : gate(2, at, cell);
    const float next = sequence.activations[1](sequence.clipped(sequence.gates[3 * hidden + at]));
    cell = forget * cell + input * next;
    sequence.h[at] = gate(1, at, cell) * sequence.activations[2](cell);
  }
}

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

void begin_state(const Operands& operands, Operand initial, std::int64_t from, float* state, std::int64_t hidden) {
  if (has_operand(operands.reads, initial)) {
    std::copy_n(elements<float>(operands.reads[initial]) + from, hidden, state);
  } else {
    std::fill_n(state, hidden, 0.0F);
  }
}

// Runs the first `valid` steps, from the last to the first if it runs backward. Later steps are 0.
void run_sequence(const Sequence& sequence, const Operands& operands, std::int64_t direction, std::int64_t batch,
                  std::int64_t valid) {
  const Places places{sequence.of, sequence.parameters.is_batch_first};
  const std::int64_t hidden = sequence.of.hidden;
  const std::int64_t state = places.state(direction, batch);
  begin_state(operands, kInitialH, state, sequence.h, hidden);
  begin_state(operands, kInitialC, state, sequence.c, hidden);
  const bool has_all = has_operand(operands.writes, 0);
  float* const y = has_all ? mutable_elements<float>(operands.writes[0]) : nullptr;
  for (std::int64_t number = 0; number < valid; ++number) {
    const bool runs_backward = sequence.parameters.runs_backward || direction == 1;
    const std::int64_t step = runs_backward ? valid - 1 - number : number;
    const float* x = elements<float>(operands.reads[kX]) + places.x(step, batch);
    switch (sequence.parameters.cell) {
      case Cell::gru: step_gru(sequence, x); break;
      case Cell::lstm: step_lstm(sequence, x); break;
      case Cell::rnn: step_rnn(sequence, x); break;
    }
    if (has_all) std::copy_n(sequence.h, hidden, y + places.y(step, direction, batch));
  }
  for (std::int64_t step = valid; has_all && step < sequence.of.length; ++step) {
    std::fill_n(y + places.y(step, direction, batch), hidden, 0.0F);
  }
  const std::array<const float*, 2> last{sequence.h, sequence.c};
  for (std::size_t at = 0; at < 2; ++at) {
    if (!has_operand(operands.writes, 1 + at)) continue;
    std::copy_n(last[at], hidden, mutable_elements<float>(operands.writes[1 + at]) + state);
  }
}

bool has_extents(const Operands& operands, std::size_t at, const Extents& extents) {
  return !has_operand(operands.reads, at) || std::ranges::equal(extents_of(operands.reads[at]), extents.values());
}

// Returns nullopt if the operands do not agree.
std::optional<RecurrentExtents> recurrent_extents(const RecurrentParameters& parameters, const Operands& operands) {
  const Extents x(extents_of(operands.reads[kX]));
  const Extents r(extents_of(operands.reads[kR]));
  if (x.rank() != 3 || r.rank() != 3) return std::nullopt;
  const bool is_batch_first = parameters.is_batch_first;
  const RecurrentExtents of{.length = x[is_batch_first ? 1 : 0],
                            .batch = x[is_batch_first ? 0 : 1],
                            .input = x[2],
                            .directions = r[0],
                            .hidden = r[2]};
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

RunStatus run_recurrent(const RecurrentParameters& parameters, const Operands& operands, Team& /*team*/) {
  const std::optional<RecurrentExtents> of = recurrent_extents(parameters, operands);
  if (!of) return {RunCode::bad_extents, 0};
  const RunStatus status = set_recurrent_extents(parameters, *of, operands);
  if (status.code != RunCode::ok) return status;
  Sequence sequence{.parameters = parameters, .of = *of};
  const std::int64_t rows = sequence.rows();
  sequence.gates = reinterpret_cast<float*>(operands.scratch);
  sequence.h = sequence.gates + rows;
  sequence.c = sequence.h + of->hidden;
  sequence.scratch = sequence.c + of->hidden;
  const auto part = [&](Operand operand, std::int64_t direction, std::int64_t count) {
    const bool is_given = has_operand(operands.reads, operand);
    return is_given ? elements<float>(operands.reads[operand]) + direction * count : nullptr;
  };
  for (std::int64_t direction = 0; direction < of->directions; ++direction) {
    sequence.w = part(kW, direction, rows * of->input);
    sequence.r = part(kR, direction, rows * of->hidden);
    sequence.bias = part(kB, direction, 2 * rows);
    sequence.peepholes = part(kPeepholes, direction, 3 * of->hidden);
    sequence.activations =
        parameters.activations.data() + static_cast<std::size_t>(direction) * functions_of(parameters.cell);
    for (std::int64_t batch = 0; batch < of->batch; ++batch) {
      const bool has_lengths = has_operand(operands.reads, kLengths);
      const std::int64_t valid = has_lengths ? elements<std::int32_t>(operands.reads[kLengths])[batch] : of->length;
      if (valid < 0 || valid > of->length) return {RunCode::index_out_of_range, kLengths};
      run_sequence(sequence, operands, direction, batch, valid);
    }
  }
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
Bytes recurrent_scratch(const Graph& graph, const Node& node) {
  const std::vector<std::int64_t>& extents = graph.tensor(*node.inputs[kR]).shape.extents();
  return extents.empty() ? Bytes(0) : Bytes((gates_of(cell) + 3) * 4) * extents.back();
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
