// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/quantized.h"

#include "lowtide/report/text/figures.h"

namespace lowtide {

std::string quantized_text(const QuantizedFacts& facts) {
  if (facts.are_others_on_integers) {
    return counted(facts.operators, "operator") + " between DequantizeLinear and QuantizeLinear" +
           (facts.operators == 1 ? " works" : " work") +
           " on floating-point numbers, because this target has no integer kernel for " +
           (facts.operators == 1 ? "it." : "them.");
  }
  std::string text =
      counted(facts.operators, "operator") + (facts.operators == 1 ? " is" : " are") +
      " between DequantizeLinear and QuantizeLinear. The plan runs the graph as it is: these operators work on "
      "floating-point numbers, and the integers are in memory next to them. So the plan may need more memory than a "
      "plan of the model before quantization.";
  if (!facts.estimate) return text;
  const IntegerEstimate& estimate = *facts.estimate;
  text += " A target with integer kernels for these operators would run a different graph. Its estimated arena is " +
          format_bytes(estimate.arena);
  if (estimate.is_proven) return text + ", which is optimal for that graph.";
  return text + ", with a lower bound of " + format_bytes(estimate.bound) + ".";
}

}  // namespace lowtide
