// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/lowering.h"

#include "lowtide/base/listed.h"
#include "lowtide/graph/lowered.h"
#include "lowtide/report/figures.h"

namespace lowtide {

std::string lowering_text(const LoweringFacts& facts) {
  std::int64_t chains = 0;
  std::int64_t in_chains = 0;
  for (const LoweringFacts::Rewrite& rewrite : facts.rewrites) {
    if (rewrite.op != kChainFullName) continue;
    ++chains;
    in_chains += static_cast<std::int64_t>(rewrite.from.size());
  }
  const std::int64_t folded = static_cast<std::int64_t>(facts.rewrites.size()) - chains;
  std::vector<std::string> parts;
  if (facts.left_out > 0) parts.push_back(counted(facts.left_out, "node") + " left out");
  if (facts.at_load > 0) parts.push_back(counted(facts.at_load, "node") + " computed when the model is loaded");
  if (folded > 0) parts.push_back(counted(folded, "BatchNormalization") + " folded into a Conv");
  if (chains > 0) parts.push_back(counted(in_chains, "node") + " fused into " + counted(chains, "chain"));
  std::string text = parts.empty() ? "no node changed" : listed(parts, "and");
  if (facts.as_written) text += ". As written, the model needs an arena of " + format_bytes(facts.as_written->arena);
  return text + ".";
}

}  // namespace lowtide
