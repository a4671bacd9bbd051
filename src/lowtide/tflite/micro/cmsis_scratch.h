// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lowtide/tflite/flatbuffer/tflite_model.h"

namespace lowtide::micro_internal {

// What the kernel of CMSIS-NN for an operator requests.
struct CmsisRequests {
  bool is_reference = false;                       // it has no kernel for these types, so the reference kernel runs
  std::optional<std::vector<std::int64_t>> sizes;  // nullopt: not known here
};

// The requests of CMSIS-NN 7 on a processor with the DSP extension and without the vector extension (Cortex-M4, M7,
// M33), compiled by gcc, with the kernels of the runtime optimized for speed. Kernels on 8 bits are known. No test runs
// these kernels, so the numbers follow from the sources alone.
[[nodiscard]] CmsisRequests cmsis_requests(const TfliteSubgraph& subgraph, const TfliteOperator& op);

}  // namespace lowtide::micro_internal
