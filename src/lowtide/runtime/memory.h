// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "lowtide/base/bytes.h"

namespace lowtide {

// The memory of an executable and of its sessions.
struct ExecutableMemory {
  Bytes arena;    // of the plan
  Bytes extra;    // what the arena of a session has beyond the plan, for states of loops that change places
  Bytes outside;  // per session, outside of the arena: what links take from it and bring back
  Bytes session;  // per session, in addition: tables, bound kernels, and states until the caller binds others
  Bytes mapped;   // constants that are read in the file
  Bytes copied;   // constants in own memory: inline, synthetic, computed, or short or misaligned in the file
};

// A tensor whose size depends on data.
struct DynamicSize {
  std::string name;  // of a tensor in a body, after the path of the body: "loop/body/x"
  Bytes planned;     // at its upper bound
  Bytes seen;        // the most of all runs so far; 0 before the first one
};

}  // namespace lowtide
