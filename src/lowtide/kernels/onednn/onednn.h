// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/kernels/common/family.h"
#include "lowtide/target/formats.h"

namespace lowtide::kernels_internal {

// The oneDNN that the program finds, for MachineKey.
struct OnednnKey {
  std::string isa;      // the best instruction set that it uses here: "avx512_core_bf16"; "any" without oneDNN
  std::string version;  // "onednn 3.2.0", or "none"
};
[[nodiscard]] OnednnKey onednn_key();

// Whether the program finds oneDNN. Loads it, as each function of this header does but onednn_families().
[[nodiscard]] bool has_onednn();

// Keeps oneDNN's small objects of a run out of malloc (KernelProcess::keeps_runs_off_heap), if it is loaded. Otherwise
// its engine does the same when it is made.
void quiet_loaded_onednn();

// The families of oneDNN's kernels, whose names begin with kOnednnPrefix. Requires of their functions:
// has_onednn().
[[nodiscard]] std::span<const Family> onednn_families();
inline constexpr std::string_view kOnednnPrefix = "onednn.";

// All ways in which oneDNN's kernels run a convolution of the model, the fastest one first.
[[nodiscard]] std::vector<FormatOption> options_of_convolution(const Graph& graph, NodeId node);

// The blocks that fill a register of the instruction set that oneDNN uses here.
[[nodiscard]] Format onednn_blocks();

// The formats in which oneDNN's kernels run nodes of the model. Of a convolution, it has the fastest way alone
// whose result is in blocks. nullptr without oneDNN.
[[nodiscard]] std::shared_ptr<const KernelFormats> onednn_formats();

}  // namespace lowtide::kernels_internal
