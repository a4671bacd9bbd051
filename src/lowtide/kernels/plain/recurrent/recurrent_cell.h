// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lowtide/kernels/plain/recurrent/activation.h"
#include "lowtide/kernels/team.h"

namespace lowtide::kernels_internal {

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
  int threads = 1;             // for which there is scratch
};

struct RecurrentExtents {
  std::int64_t length = 0;
  std::int64_t batch = 0;
  std::int64_t input = 0;
  std::int64_t directions = 0;
  std::int64_t hidden = 0;
};

// The operands of one direction.
struct RecurrentWeights {
  const float* w = nullptr;          // [gates * hidden, input]
  const float* r = nullptr;          // [gates * hidden, hidden]
  const float* bias = nullptr;       // [2 * gates * hidden], or nullptr
  const float* peepholes = nullptr;  // [3 * hidden], or nullptr
  const Activation* activations = nullptr;
  bool is_backward = false;  // whether r is read from its last row to its first (row_dots.h)
};

// One sequence between two of its steps. All memory is of the scratch of the kernel.
struct RecurrentState {
  float* h = nullptr;        // [hidden]
  float* c = nullptr;        // [hidden]
  float* product = nullptr;  // [gates * hidden]: of r and the state
  float* reset = nullptr;    // [hidden]: of GRU
  float* gates = nullptr;    // [gates * hidden]: of w and the input of this step; they become the gates
};

// The states whose steps are computed at the same time, so that `r` is read once for all of them.
inline constexpr std::size_t kMostStates = 16;

// One step of all `states`: their h and c become those after the step. Requires: at most kMostStates.
void run_recurrent_step(const RecurrentParameters& parameters, const RecurrentWeights& weights, std::int64_t hidden,
                        std::span<const RecurrentState> states, Team& team);

}  // namespace lowtide::kernels_internal
