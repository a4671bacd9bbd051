// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/base/result.h"
#include "lowtide/plan/transfers.h"
#include "lowtide/target/target.h"

namespace lowtide {

// The target with a region "outside" that no worker can address, and a link to it and one back. So plans with a budget
// may move tensors there. `link`: the rate and the latency of each direction. Errors (invalid): the first worker writes
// several regions, or the target has links.
[[nodiscard]] Result<Target> add_link(Target target, const TransferLink& link);

// The target for a plan that was made for the machine `planned`. If that machine has links and the target has none, the
// result is the target with a link like the first one of the machine. Any target with one region for the arena can have
// memory outside of it. Otherwise, the result is the target as it is.
[[nodiscard]] Target with_link_of(const Machine& planned, Target target);

}  // namespace lowtide
