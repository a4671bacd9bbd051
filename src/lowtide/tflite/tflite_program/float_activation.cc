// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/tflite/tflite_program/float_activation.h"

#include <string>

namespace lowtide::tflite_program_internal {

Result<FloatLimits> float_limits(const OperatorContext& context) {
  const std::string_view activation = context.name_option("fused_activation_function");
  if (activation.empty() || activation == "NONE") return FloatLimits{};
  if (activation == "RELU") return FloatLimits{.count = 1};
  if (activation == "RELU6") return FloatLimits{.count = 2, .minimum = 0, .maximum = 6};
  if (activation == "RELU_N1_TO_1") return FloatLimits{.count = 2, .minimum = -1, .maximum = 1};
  return context.unsupported("its activation " + std::string(activation) +
                             " has no kernel; supported are NONE, RELU, RELU6 and RELU_N1_TO_1");
}

void append_limits(const FloatLimits& limits, std::vector<CParameter>& to) {
  to.push_back(parameter("limits", limits.count));
  to.push_back(CParameter{"minimum", limits.minimum});
  to.push_back(CParameter{"maximum", limits.maximum});
}

void add_limits(OperatorContext& context, const FloatLimits& limits) {
  const CParameter count = parameter("count", elements_of(context.output().shape));
  if (limits.count == 1) context.call("relu_f32", {count}, {context.out(), context.out()});
  if (limits.count == 2) {
    context.call("clip_f32", {count, CParameter{"a", limits.minimum}, CParameter{"b", limits.maximum}},
                 {context.out(), context.out()});
  }
}

}  // namespace lowtide::tflite_program_internal
