// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/verify/violation.h"

namespace lowtide::verify_internal {

// Collects at most as many violations as the options permit, but at least one. Each is labelled with the body that is
// being checked.
class Findings {
 public:
  explicit Findings(const VerifyOptions& options) : most_(std::max<std::size_t>(options.most_violations, 1)) {}

  // Once true, every check returns early.
  [[nodiscard]] bool is_full() const { return violations_.size() >= most_; }
  [[nodiscard]] std::size_t count() const { return violations_.size(); }
  // How many more violations it accepts.
  [[nodiscard]] std::size_t left() const { return most_ - violations_.size(); }
  void add(Violation violation) {
    if (is_full()) return;
    for (const std::string& label : bodies_) violation.body += (violation.body.empty() ? "" : ": ") + label;
    violations_.push_back(std::move(violation));
  }
  void add(ViolationKind kind, std::string message) { add({.kind = kind, .message = std::move(message)}); }

  void enter_body(const std::string& label) { bodies_.push_back(label); }
  void leave_body() { bodies_.pop_back(); }

  [[nodiscard]] std::vector<Violation> take() && { return std::move(violations_); }

 private:
  std::size_t most_;
  std::vector<std::string> bodies_;
  std::vector<Violation> violations_;
};

}  // namespace lowtide::verify_internal
