// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "lowtide/base/result.h"
#include "lowtide/earlier/proto/message.h"
#include "lowtide/earlier/rewrite/beside_grappler.h"

namespace lowtide::cli_internal {

// The page of `rewrite --html`: the graph as it is given, as Grappler rewrites it, and as Lowtide plans it. `planned`
// is what lean_graphdef made of the graph with these options. Errors: those of plan_beside_grappler.
[[nodiscard]] Result<std::string> beside_page(const ProtoMessage& graphdef, const LeanGraphDef& planned,
                                              BesideGrapplerOptions options, const std::string& name);

}  // namespace lowtide::cli_internal
