// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdlib>

namespace lowtide::testing {

// How many random cases a test tries, or how many of them it expects to be of some kind: `whole` in a campaign
// (scripts/campaigns), and a fifth of it in other runs. The cases of a sample are the first ones of a campaign.
[[nodiscard]] inline int sampled(int whole) {
  static const bool is_campaign = std::getenv("LOWTIDE_CAMPAIGN") != nullptr;
  return is_campaign ? whole : (whole + 4) / 5;
}

}  // namespace lowtide::testing
