// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <set>
#include <string>

namespace lowtide::testing {

// Values of the process, by name: handlers of signals, sealed import entries of all libraries, limits, and so on.
using ProcessState = std::map<std::string, std::string>;

// Everything of the process that a library could change and that a host program can see, except its threads.
[[nodiscard]] ProcessState state_of_process();

// The threads of the process, by the numbers that the system gives them.
[[nodiscard]] std::set<std::string> tasks();

// What differs between two states, by name.
[[nodiscard]] std::set<std::string> changes(const ProcessState& before, const ProcessState& after);

}  // namespace lowtide::testing
