// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/problem/fullest_moments.h"

#include "lowtide/base/flags.h"

namespace lowtide::allocate_internal {

std::vector<Moment> fullest_moments(const CompressedProblem& problem) {
  Flags<Moment> begins(problem.moments());
  Flags<Moment> ends(problem.moments());
  for (PackingId id : problem.participants()) {
    for (const MomentSpan& span : problem.spans_of(id)) {
      begins.set(span.begin);
      ends.set(span.end);
    }
  }
  std::vector<Moment> fullest;
  Moment last_begin = 0;
  bool has_begun = false;  // since the last end
  for (Moment moment = 0; moment < problem.moments(); ++moment) {
    // At the same moment, ends come before begins, because spans are half-open.
    if (ends.test(moment)) {
      if (has_begun) fullest.push_back(last_begin);
      has_begun = false;
    }
    if (begins.test(moment)) {
      last_begin = moment;
      has_begun = true;
    }
  }
  return fullest;
}

std::vector<CliqueId> first_clique_from(const std::vector<Moment>& fullest, std::size_t moments) {
  std::vector<CliqueId> first(moments + 1);
  std::size_t passed = 0;
  for (Moment moment = 0; moment <= moments; ++moment) {
    while (passed < fullest.size() && fullest[passed] < moment) ++passed;
    first[moment] = CliqueId(static_cast<std::uint32_t>(passed));
  }
  return first;
}

}  // namespace lowtide::allocate_internal
