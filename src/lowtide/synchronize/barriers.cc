// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/synchronize/barriers.h"

#include <cstddef>
#include <string>

namespace lowtide {
namespace {

// The first step of each wave, and the number of steps.
std::vector<std::uint32_t> first_steps(const std::vector<std::uint32_t>& wave, std::size_t steps) {
  std::vector<std::uint32_t> first;
  for (std::size_t at = 0; at < wave.size(); ++at) {
    if (at == 0 || wave[at] != wave[at - 1]) first.push_back(static_cast<std::uint32_t>(at));
  }
  for (std::size_t at = wave.size(); at <= steps; ++at) first.push_back(static_cast<std::uint32_t>(at));
  return first;
}

Result<void> check_waits(const Program& program, const std::vector<std::uint32_t>& first) {
  std::int64_t waits = 0;
  for (std::size_t wave = 1; wave + 1 < first.size(); ++wave) {
    waits += std::int64_t{first[wave] - first[wave - 1]} * (first[wave + 1] - first[wave]);
  }
  if (waits <= kMostBarrierWaits) return {};
  return Error{ErrorCode::over_limit,
               "barriers between waves on " + std::to_string(program.streams.size()) + " streams need " +
                   std::to_string(waits) + " waits, more than the limit of " + std::to_string(kMostBarrierWaits) +
                   " (kMostBarrierWaits); use fewer streams",
               ""};
}

}  // namespace

Result<Program> with_barriers(Program program, const std::vector<std::uint32_t>& wave) {
  const std::vector<std::uint32_t> first = first_steps(wave, program.steps.size());
  LOWTIDE_RETURN_IF_ERROR(check_waits(program, first));
  for (std::size_t at = 1; at + 1 < first.size(); ++at) {
    for (StepId id(first[at]); id < StepId(first[at + 1]); id = StepId(id.value() + 1)) {
      Step& step = program.steps[id];
      step.after.clear();
      for (StepId before(first[at - 1]); before < StepId(first[at]); before = StepId(before.value() + 1)) {
        if (program.steps[before].stream != step.stream) step.after.push_back(before);
      }
    }
  }
  return program;
}

}  // namespace lowtide
