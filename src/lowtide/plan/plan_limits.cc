// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/plan/plan_limits.h"

#include <cstdint>
#include <optional>
#include <string>

#include "lowtide/base/limits.h"
#include "lowtide/base/quote.h"

namespace lowtide {
namespace {

class PlanLimits {
 public:
  Result<void> check(const Plan& root) {
    for (const Plan* plan : all_plans_in(root)) check_one(*plan);
    if (error_) return *error_;
    return {};
  }

 private:
  void check_one(const Plan& plan) {
    for (std::size_t at = 0; at < plan.layout.arena.size(); ++at) {
      const std::string name = "region " + quoted(plan.machine.regions[at].name);
      check_size("the arena of " + name, plan.layout.arena[at]);
      if (plan.machine.regions[at].capacity)
        check_one_size("the capacity of " + name, *plan.machine.regions[at].capacity);
    }
    const std::string buffer_name = "a buffer";
    for (const Buffer& buffer : plan.layout.buffers) check_size(buffer_name, buffer.size);
    check_claim(plan.claims.load_as_given);
    check_claim(plan.claims.load);
    check_claim(plan.claims.shortfall);
    for (const Bound& bound : plan.claims.bounds) check_claim(bound.bytes);
  }

  void check_claim(Bytes claim) {
    if (claim.count() > limits::kMaxTotalBytes)
      refuse("a load of " + std::to_string(claim.count()) + " bytes", total());
  }

  void check_one_size(const std::string& what, Bytes size) {
    if (size.count() <= limits::kMaxArenaBytes) return;
    refuse(what + " has " + std::to_string(size.count()) + " bytes",
           std::to_string(limits::kMaxArenaBytes) + " (kMaxArenaBytes)");
  }

  // A size above kMaxArenaBytes is refused, so the sum does not overflow.
  void check_size(const std::string& what, Bytes size) {
    check_one_size(what, size);
    if (error_) return;
    total_ += size.count();
    if (total_ > limits::kMaxTotalBytes) {
      refuse("the arenas and buffers of the plan add up to " + std::to_string(total_) + " bytes or more", total());
    }
  }

  static std::string total() { return std::to_string(limits::kMaxTotalBytes) + " (kMaxTotalBytes)"; }

  void refuse(const std::string& what, const std::string& limit) {
    if (error_) return;
    error_ = Error{ErrorCode::over_limit, what + ", above the limit of " + limit + "; plan smaller shapes", ""};
  }

  std::optional<Error> error_;
  std::int64_t total_ = 0;
};

}  // namespace

Result<void> check_plan_limits(const Plan& plan) { return PlanLimits().check(plan); }

}  // namespace lowtide
