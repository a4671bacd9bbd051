// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

// Which run of a written order waits for which one. In TensorFlow, oneDNN joins a Conv2D with the BiasAdd that reads
// it, and shapes become constants, whatever waits for these nodes:
//
//   order     Conv2D, ReadVariableOp of the bias, BiasAdd
//   chain     the read waits for the Conv2D, and the BiasAdd for the read
//   joined    the read and the joined node wait for each other, so neither runs
//
// So a read waits for what is before the other operands of its readers, and the run behind it waits for the read and
// for the run before the read. oneDNN also joins a BiasAddGrad with a Conv2DBackpropFilter that reads the same
// gradient. No run between the two waits for the BiasAddGrad.
namespace lowtide::rewrite_internal {

struct ChainedRun {
  std::uint32_t at = 0;    // position in the sequence
  std::string op = {};     // of the node
  bool has_waits = false;  // the node has control inputs of its own
};

// Operand `input` of the run `reader` is an output of the run `source`.
struct OperandRead {
  std::uint32_t reader = 0;
  std::size_t input = 0;
  std::uint32_t source = 0;
};

struct RunChain {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> waits;  // a run, and an earlier one that it waits for
  // The runs that wait for each other, ascending. Others are reads, shapes and each BiasAddGrad.
  std::vector<std::uint32_t> links;
};

// Requires: `runs` ascend by position. O((runs + reads) log).
[[nodiscard]] RunChain chain_of_runs(const std::vector<ChainedRun>& runs, const std::vector<OperandRead>& reads);

}  // namespace lowtide::rewrite_internal
