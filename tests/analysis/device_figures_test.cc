// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/analysis/device_figures.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "lowtide/graph/text.h"
#include "tests/testing/graphs.h"

namespace lowtide {
namespace {

using testing::graph_of;

IdVector<TensorId, std::uint32_t> devices_of(const Graph& graph, const std::vector<std::string>& on_second) {
  IdVector<TensorId, std::uint32_t> devices;
  for (const Tensor& tensor : graph.tensors()) {
    const bool is_second = std::find(on_second.begin(), on_second.end(), tensor.name) != on_second.end();
    devices.push_back(is_second ? 1 : 0);
  }
  return devices;
}

TensorId tensor_of(const Graph& graph, const std::string& name) {
  for (TensorId id : all_ids<TensorId>(graph.tensors().size())) {
    if (graph.tensor(id).name == name) return id;
  }
  throw std::runtime_error("no tensor " + name);
}

std::string text_of(const DeviceFigures& figures) {
  std::string text = std::to_string(figures.device) + ": " + std::to_string(figures.nodes) + " nodes, " +
                     std::to_string(figures.written.count()) + " B, live " +
                     std::to_string(figures.load_as_given.count()) + " B";
  for (const OperatorBytes& one : figures.operators) {
    text += "; " + one.op + " " + std::to_string(one.nodes) + " " + std::to_string(one.bytes.count());
  }
  return text;
}

// a (100 B) and b (10 B) on device 0, c (40 B) and d (30 B) on device 1. The names are apart.
constexpr const char* kTwoDevices = R"(graph "g" {
  input x : u8[7]
  a = F(x) : u8[100]
  b = F(a) : u8[10]
  c = G(b) : u8[40]
  d = G(c) : u8[30]
  e = F(d) : u8[5]
  output e
})";

TEST(DeviceFigures, AreSumsOfTheNamesOfADevice) {
  const Graph graph = graph_of(kTwoDevices);
  const std::vector<DeviceFigures> figures = device_figures(graph, devices_of(graph, {"c", "d"}), {});
  ASSERT_EQ(figures.size(), 2U);
  EXPECT_EQ(text_of(figures[0]), "0: 3 nodes, 115 B, live 110 B; F 3 115");  // a and b, later e alone
  EXPECT_EQ(text_of(figures[1]), "1: 2 nodes, 70 B, live 70 B; G 2 70");     // c and d
}

// In one name: it counts once at 100 B, for F, which writes it first. It is live from a's write to e, which reads d.
TEST(DeviceFigures, ANameThatIsWrittenAgainCountsOnce) {
  const Graph graph = graph_of(kTwoDevices);
  const std::vector<std::vector<TensorId>> names = {
      {tensor_of(graph, "a"), tensor_of(graph, "b"), tensor_of(graph, "d")}};
  const std::vector<DeviceFigures> figures = device_figures(graph, devices_of(graph, {}), names);
  ASSERT_EQ(figures.size(), 1U);
  // with c: 140 B, with e: 105 B
  EXPECT_EQ(text_of(figures[0]), "0: 5 nodes, 145 B, live 140 B; F 3 105; G 2 40");
}

// What exists before the run is not allocated by it. A name that is never read is live in its step alone.
TEST(DeviceFigures, WhatExistsBeforeTheRunIsNotCounted) {
  const Graph graph = graph_of(R"(graph "g" {
  input x : u8[7]
  a, unread = F(x) : u8[100], u8[50]
  b = G(a) : u8[60]
  output b
})");
  const std::vector<DeviceFigures> figures =
      device_figures(graph, devices_of(graph, {}), {{tensor_of(graph, "x"), tensor_of(graph, "b")}});
  ASSERT_EQ(figures.size(), 1U);
  EXPECT_EQ(text_of(figures[0]), "0: 2 nodes, 150 B, live 150 B; F 1 150; G 1 0");
}

}  // namespace
}  // namespace lowtide
