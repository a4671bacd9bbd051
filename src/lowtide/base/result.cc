// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/base/result.h"

namespace lowtide {

std::string Error::describe() const { return place.empty() ? message : place + ": " + message; }

}  // namespace lowtide
