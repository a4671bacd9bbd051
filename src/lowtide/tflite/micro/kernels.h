// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lowtide/tflite/micro/micro.h"

namespace lowtide::micro_internal {

// The bytes of an element in the runtime's memory. Types below 8 bits are unpacked. nullopt: it knows no such type.
[[nodiscard]] std::optional<std::int64_t> element_bytes(TfliteType type);

// The number of elements of a tensor. nullopt: more than 2^31 - 1, which is the most that the runtime can count.
[[nodiscard]] std::optional<std::int64_t> elements(const TfliteTensor& tensor);

// The bytes of each request for scratch that the kernel of an operator makes, in its order. nullopt: not known, because
// the kernels do not include the operator.
[[nodiscard]] std::optional<std::vector<std::int64_t>> scratch_requests(const TfliteSubgraph& subgraph,
                                                                        const TfliteOperator& op, MicroKernels kernels);

// Whether CMSIS-NN has a kernel of its own for the operator.
[[nodiscard]] bool is_in_cmsis(const TfliteOperator& op);

}  // namespace lowtide::micro_internal
