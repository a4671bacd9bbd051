// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/c_source/c_program/c_program.h"
#include "lowtide/tflite/tflite_program/operator_context.h"

namespace lowtide::tflite_program_internal {

// An axis of elements that move. Steps are in elements.
struct MovedAxis {
  std::int64_t count = 1;
  std::int64_t input_step = 0;
  std::int64_t output_step = 0;
};

// Elements that move from one tensor to another.
struct Movement {
  std::vector<MovedAxis> axes;
  std::int64_t input_start = 0;
  std::int64_t output_start = 0;
};

// How far apart neighbors along each axis are, in elements.
[[nodiscard]] Shape steps_of(const Shape& shape);

// The bytes of an element. Errors: unsupported types.
[[nodiscard]] Result<std::int64_t> element_bytes(const OperatorContext& context, const TfliteTensor& tensor);

// Adds a call that moves elements of this many bytes, with as few loops as possible. Adds none if there is nothing to
// move. Errors: unsupported, if more than 5 loops are needed.
[[nodiscard]] Result<void> add_movement(OperatorContext& context, const Movement& movement, std::int64_t bytes,
                                        const COperand& from, const COperand& to);

}  // namespace lowtide::tflite_program_internal
