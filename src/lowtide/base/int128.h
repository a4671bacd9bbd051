// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

namespace lowtide {

// A signed integer of 128 bits. It holds any product of two 64-bit integers.
__extension__ typedef __int128 Int128;

}  // namespace lowtide
