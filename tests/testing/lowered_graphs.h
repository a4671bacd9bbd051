// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "lowtide/verify/verify.h"
#include "tests/testing/graphs.h"

// Helpers for graphs as texts, and for what `verify_lowering` says about them.
namespace lowtide::testing {

inline constexpr std::string_view kNoLoadTimeWork = "graph \"g\" { }";

// A text with other words in place of the first `words`.
inline std::string with(std::string_view text, std::string_view words, std::string_view others) {
  std::string changed(text);
  const std::size_t at = changed.find(words);
  EXPECT_NE(at, std::string::npos) << words;
  return at == std::string::npos ? changed : changed.replace(at, words.size(), others);
}

// The violations of a lowered graph, one per line, behind the body that has them.
inline std::string differences(std::string_view model, std::string_view lowered,
                               std::string_view load = kNoLoadTimeWork, const ConstantTable* table = nullptr) {
  std::string lines;
  for (const Violation& one : verify_lowering(graph_of(model), graph_of(lowered), graph_of(load), {}, table)) {
    EXPECT_EQ(one.kind, ViolationKind::wrong_model);
    lines += (one.body.empty() ? "" : one.body + ": ") + one.message + "\n";
  }
  return lines;
}

// Fails the test if `verify_lowering` finds anything. The lowered graph has no load-time work.
inline void expect_equal_work(const Graph& model, const Graph& lowered) {
  for (const Violation& one : verify_lowering(model, lowered, graph_of(kNoLoadTimeWork))) ADD_FAILURE() << one.message;
}

}  // namespace lowtide::testing
