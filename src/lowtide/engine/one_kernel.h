// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "lowtide/target/target.h"

namespace lowtide::engine_internal {

// Offers one kernel per node: that of this rank, or the last one.
class OneKernel final : public Catalogue {
 public:
  OneKernel(std::shared_ptr<const Catalogue> all, std::size_t rank) : all_(std::move(all)), rank_(rank) {}

  [[nodiscard]] std::vector<Kernel> kernels(const Graph& graph, NodeId node) const override {
    std::vector<Kernel> offered = all_->kernels(graph, node);
    return {std::move(offered[std::min(rank_, offered.size() - 1)])};
  }

 private:
  std::shared_ptr<const Catalogue> all_;
  std::size_t rank_;
};

}  // namespace lowtide::engine_internal
