// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "lowtide/adapt/size_choice.h"
#include "lowtide/runtime/session.h"
#include "tests/engine/small_model.h"

namespace lowtide::testing {

// A ValueInfoProto of f32[batch,4].
inline std::string rows(const std::string& name) {
  const std::string shape = bytes_field(1, bytes_field(2, "batch")) + bytes_field(1, number_field(1, 4));
  const std::string tensor = number_field(1, 1) + bytes_field(2, shape);
  return bytes_field(1, name) + bytes_field(2, bytes_field(1, tensor));
}

// k is 1, 2, 3, 4.
inline std::string given_k() {
  const std::array<float, 4> k{1, 2, 3, 4};
  return bytes_field(9, std::string(reinterpret_cast<const char*>(k.data()), sizeof k));
}

// k is in a file that is absent.
inline std::string absent_k() {
  return bytes_field(13, bytes_field(1, "location") + bytes_field(2, "absent.bin")) + number_field(14, 1);
}

// y = Add(Exp(x), Neg(k)), where Neg is load-time work.
inline std::string batched_model(const std::string& content_of_k = given_k()) {
  const std::string initializer = number_field(1, 4) + number_field(2, 1) + bytes_field(8, "k") + content_of_k;
  const std::string add = bytes_field(1, "a") + bytes_field(1, "w") + bytes_field(2, "y") + bytes_field(4, "Add");
  const std::string graph = bytes_field(1, node("Exp", "x", "a")) + bytes_field(1, node("Neg", "k", "w")) +
                            bytes_field(1, add) + bytes_field(2, "batched") + bytes_field(5, initializer) +
                            bytes_field(11, rows("x")) + bytes_field(12, rows("y"));
  return number_field(1, 8) + bytes_field(7, graph) + bytes_field(8, number_field(2, 17));
}

inline std::vector<SizeChoice> batches(const std::vector<std::int64_t>& extents, const std::string& symbol = "batch") {
  std::vector<SizeChoice> choices;
  for (std::int64_t extent : extents) choices.push_back({.dims = {{symbol, extent}}});
  return choices;
}

inline std::vector<float> run_session(Session& session, const std::vector<float>& x) {
  const std::array<std::int64_t, 2> extents{static_cast<std::int64_t>(x.size() / 4), 4};
  EXPECT_TRUE(session.bind_input("x", {DType::f32, extents, std::as_bytes(std::span(x))}).ok());
  EXPECT_TRUE(session.run().ok());
  std::vector<float> y(x.size());
  const OutputRef output = session.output(0);
  EXPECT_EQ(output.bytes.size(), y.size() * sizeof(float));
  std::memcpy(y.data(), output.bytes.data(), output.bytes.size());
  return y;
}

}  // namespace lowtide::testing
