// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/earlier/baselines/ports/plain_net.h"

namespace lowtide::testing {

// Caffe2's compute_blob_recycling_for_dag as it was: recursive, on names, with copied sets.
struct DagQuestion {
  std::vector<std::string> heads;
  std::vector<std::size_t> op_indices;
  std::set<std::string> shareable;
  std::set<std::string> dont_share;
  std::map<std::string, std::int64_t> sizes;  // elements; empty: unknown
};

struct DagAnswer {
  bool stops = false;                          // the original fails a check
  std::map<std::string, std::string> mapping;  // of each name that moved: the name into which it moved
};

[[nodiscard]] DagAnswer ported_dag(const PlainNet& net, const DagQuestion& question);

}  // namespace lowtide::testing
