// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/base/result.h"

namespace lowtide::tflite_program_internal {

// Why operators of a model cannot become C source, all of them together.
class Refusals {
 public:
  // The operator with this type and number of the first subgraph is refused. Operators of one type that are refused
  // for one reason are counted.
  void add(std::string_view type, std::uint32_t op, const Error& error);

  [[nodiscard]] bool is_empty() const { return refused_.empty(); }

  // One line for each type and reason, with the first operator, and a way out. After 20 lines, operators are only
  // counted. The code is that of the first refusal. Requires: !is_empty().
  [[nodiscard]] Error error() const;

 private:
  struct Refusal {
    std::string type;
    std::string why;
    std::uint32_t first = 0;  // the first operator
    std::int64_t count = 1;
  };
  std::vector<Refusal> refused_;
  std::int64_t rest_ = 0;  // operators that have no line
  ErrorCode code_ = ErrorCode::unsupported;
};

}  // namespace lowtide::tflite_program_internal
