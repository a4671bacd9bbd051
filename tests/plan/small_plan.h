// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "lowtide/plan/plan_json.h"

namespace lowtide::testing {

// A correct plan with a view, scratch, bodies, two regions, and a name that is not UTF-8. It is equal to
// tests/files/plans/small.json.
[[nodiscard]] PlanFile small_plan_file();
[[nodiscard]] std::string small_json();

// A correct plan with every feature: two regions with links, streams, copies of bytes of a value, buffer parts, a node
// that runs again, and a state that is updated.
[[nodiscard]] PlanFile transfer_plan_file();
[[nodiscard]] std::string transfer_json();

}  // namespace lowtide::testing
