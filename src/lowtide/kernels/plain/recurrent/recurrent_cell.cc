// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/plain/recurrent/recurrent_cell.h"

#include <algorithm>
#include <array>

#include "lowtide/kernels/plain/products/row_dots.h"

namespace lowtide::kernels_internal {
namespace {

using GateRows = Interval<std::int64_t>;

class StepRunner {
 public:
  StepRunner(const RecurrentParameters& parameters, const RecurrentWeights& weights, std::int64_t hidden, Team& team)
      : parameters_(parameters), weights_(weights), hidden_(hidden), team_(team) {}

  void run(std::span<const RecurrentState> states) const {
    switch (parameters_.cell) {
      case Cell::gru: return run_gru(states);
      case Cell::lstm: return run_lstm(states);
      case Cell::rnn: return run_rnn(states);
    }
  }

 private:
  void run_rnn(std::span<const RecurrentState> states) const {
    multiply(states, {0, hidden_}, &RecurrentState::h);
    for (const RecurrentState& state : states) {
      add_product(state, {0, hidden_});
      activate(0, state.gates, hidden_);
      std::copy_n(state.gates, hidden_, state.h);
    }
  }

  // Gates: update z, reset r, hidden h.
  void run_gru(std::span<const RecurrentState> states) const {
    const GateRows first{0, 2 * hidden_};
    const GateRows last{2 * hidden_, 3 * hidden_};
    multiply(states, first, &RecurrentState::h);
    for (const RecurrentState& state : states) {
      add_product(state, first);
      activate(0, state.gates, 2 * hidden_);
      const float* reset = state.gates + hidden_;
      for (std::int64_t at = 0; at < hidden_; ++at) state.reset[at] = reset[at] * state.h[at];
    }
    multiply(states, last, parameters_.resets_after ? &RecurrentState::h : &RecurrentState::reset);
    for (const RecurrentState& state : states) {
      if (parameters_.resets_after) {
        add_reset_product(state);
      } else {
        add_product(state, last);
      }
      float* const next = state.gates + 2 * hidden_;
      activate(1, next, hidden_);
      for (std::int64_t at = 0; at < hidden_; ++at) {
        state.h[at] = (1 - state.gates[at]) * next[at] + state.gates[at] * state.h[at];
      }
    }
  }

  // Gates: input, output, forget, cell.
  void run_lstm(std::span<const RecurrentState> states) const {
    multiply(states, {0, 4 * hidden_}, &RecurrentState::h);
    for (const RecurrentState& state : states) {
      add_product(state, {0, 4 * hidden_});
      float* const input = state.gates;
      float* const output = state.gates + hidden_;
      float* const forget = state.gates + 2 * hidden_;
      float* const cell = state.gates + 3 * hidden_;
      look_at(state, 0, input);
      activate(0, input, hidden_);
      if (parameters_.couples_gates) {
        for (std::int64_t at = 0; at < hidden_; ++at) forget[at] = 1 - input[at];
      } else {
        look_at(state, 2, forget);
        activate(0, forget, hidden_);
      }
      activate(1, cell, hidden_);
      for (std::int64_t at = 0; at < hidden_; ++at) state.c[at] = forget[at] * state.c[at] + input[at] * cell[at];
      look_at(state, 1, output);
      activate(0, output, hidden_);
      std::copy_n(state.c, hidden_, state.h);
      weights_.activations[2](state.h, hidden_);
      for (std::int64_t at = 0; at < hidden_; ++at) state.h[at] *= output[at];
    }
  }

  // Rows of r times a vector of each state.
  void multiply(std::span<const RecurrentState> states, GateRows rows, float* RecurrentState::*vector) const {
    std::array<DotColumn, kMostStates> columns;
    for (std::size_t at = 0; at < states.size(); ++at) columns[at] = {states[at].*vector, states[at].product};
    write_dots({weights_.r, hidden_, rows, weights_.is_backward}, std::span(columns).first(states.size()), team_);
  }

  [[nodiscard]] const float* bias_of_state() const {
    return weights_.bias == nullptr ? nullptr : weights_.bias + gates_of(parameters_.cell) * hidden_;
  }

  void add_product(const RecurrentState& state, GateRows rows) const {
    if (const float* bias = bias_of_state()) {
      for (std::int64_t row = rows.begin; row < rows.end; ++row) {
        state.gates[row] = (state.gates[row] + weights_.bias[row]) + (state.product[row] + bias[row]);
      }
    } else {
      for (std::int64_t row = rows.begin; row < rows.end; ++row) state.gates[row] += state.product[row];
    }
  }

  // The last gate of a GRU that resets the product in place of the state.
  void add_reset_product(const RecurrentState& state) const {
    const float* bias = bias_of_state();
    for (std::int64_t at = 0; at < hidden_; ++at) {
      const std::int64_t row = 2 * hidden_ + at;
      const float of_input = bias == nullptr ? state.gates[row] : state.gates[row] + weights_.bias[row];
      const float of_state = bias == nullptr ? state.product[row] : state.product[row] + bias[row];
      state.gates[row] = of_input + state.gates[hidden_ + at] * of_state;
    }
  }

  // Adds what a gate sees of the cell through its peephole.
  void look_at(const RecurrentState& state, std::int64_t gate, float* sums) const {
    if (weights_.peepholes == nullptr) return;
    const float* factors = weights_.peepholes + gate * hidden_;
    for (std::int64_t at = 0; at < hidden_; ++at) sums[at] += factors[at] * state.c[at];
  }

  void activate(std::size_t function, float* sums, std::int64_t count) const {
    if (parameters_.clip) {
      const float most = *parameters_.clip;
      for (std::int64_t at = 0; at < count; ++at) sums[at] = std::clamp(sums[at], -most, most);
    }
    weights_.activations[function](sums, count);
  }

  const RecurrentParameters& parameters_;
  const RecurrentWeights& weights_;
  std::int64_t hidden_;
  Team& team_;
};

}  // namespace

void run_recurrent_step(const RecurrentParameters& parameters, const RecurrentWeights& weights, std::int64_t hidden,
                        std::span<const RecurrentState> states, Team& team) {
  StepRunner(parameters, weights, hidden, team).run(states);
}

}  // namespace lowtide::kernels_internal
