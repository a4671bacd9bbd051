// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/base/id.h"

namespace lowtide::allocate_internal {

// A buffer of a problem in the form that an exact search works on, such as IntervalProblem. It is an index into the
// buffers of that problem and of its SearchTask.
using SearchBuffer = Id<struct SearchBufferTag>;

}  // namespace lowtide::allocate_internal
