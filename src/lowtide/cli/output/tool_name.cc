// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/output/tool_name.h"

namespace lowtide::cli_internal {

std::string tool_name() { return "lowtide " LOWTIDE_VERSION; }

}  // namespace lowtide::cli_internal
