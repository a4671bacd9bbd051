// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/analysis/last_uses.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace lowtide {

IdVector<ValueId, StepId> last_uses(const Program& program) {
  IdVector<ValueId, StepId> uses(program.values.size(), StepId(0));
  for (std::size_t at = program.steps.size(); at-- > 0;) {
    const StepId id(static_cast<std::uint32_t>(at));
    const Step& step = program.steps[id];
    StepId last = id;
    for (ValueId written : step.writes) {
      uses[written] = std::max(uses[written], id);
      if (is_alias(step)) last = std::max(last, uses[written]);
    }
    for (ValueId read : step.reads) uses[read] = std::max(uses[read], last);
  }
  return uses;
}

}  // namespace lowtide
