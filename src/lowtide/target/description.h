// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>

#include "lowtide/base/result.h"
#include "lowtide/target/target.h"

namespace lowtide {

// Reads a target from its description in TOML. docs/target-format.md is the reference.
//
//   name = "microcontroller"
//   constants = "flash"
//   [[region]]
//   name = "sram"
//   capacity = "256KiB"
//   alignment = 16
//   [[region]]
//   name = "flash"
//   read_only = true
//   [[kernel]]
//   operator = "Conv"
//   name = "im2col"
//   scratch_per_input_byte = 9
//
// The catalogue gives each node the kernels of its operator in the order of the file. If there are none, it gives those
// of the operator "*". If there are none of these either, it gives the dense kernel.
//
// Errors: (malformed) not TOML; (invalid) a key that is unknown or missing, a value of the wrong type or out of range,
// a name that is used twice, a region that does not exist or that the first worker cannot use, or TOML that the
// reference excludes; (over_limit) a text above limits::kMaxTargetFileBytes, nesting above limits::kMaxTextDepth, or
// too many dots. The place has `source_name`, line and column: "phone.toml:12:9: ...".
[[nodiscard]] Result<Target> parse_target(std::string_view toml, std::string source_name);

}  // namespace lowtide
