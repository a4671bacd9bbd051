// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/target/target.h"

namespace lowtide::testing {

// What differs between the kernels of an operator.
struct Offer {
  std::string name;
  std::int64_t scratch = 0;
  double seconds = 0;
  bool in_place = true;
};

// The dense kernels, but every node of one type has these.
class Offers final : public Catalogue {
 public:
  Offers(std::string type, std::vector<Offer> offers) : type_(std::move(type)), offers_(std::move(offers)) {}

  [[nodiscard]] std::vector<Kernel> kernels(const Graph& graph, NodeId node) const override {
    const std::vector<Kernel> dense = dense_catalogue()->kernels(graph, node);
    if (graph.op(node).type != type_) return dense;
    std::vector<Kernel> kernels;
    for (const Offer& offer : offers_) {
      Kernel& kernel = kernels.emplace_back(dense.front());
      kernel.name = offer.name;
      kernel.scratch = Bytes(offer.scratch);
      kernel.cost_seconds = offer.seconds;
      if (!offer.in_place) kernel.in_place.clear();
    }
    return kernels;
  }

 private:
  std::string type_;
  std::vector<Offer> offers_;
};

inline Target with_offers(const std::string& type, std::vector<Offer> offers) {
  Target target = dense_target();
  target.catalogue = std::make_shared<const Offers>(type, std::move(offers));
  return target;
}

// a needs 256 B and its kernel, b needs 256 + 64 B and its kernel. The caller holds the 64 B of x.
constexpr const char* kTwoConvs = R"(graph "g" {
  input x : f32[16]
  a = Conv(x) : f32[64]
  b = Conv(a) : f32[16]
  output b
})";
constexpr Bytes kInput(64);

inline Target fast_and_small() {
  return with_offers("Conv", {{.name = "fast", .scratch = 512, .seconds = 1}, {.name = "small", .seconds = 4}});
}

}  // namespace lowtide::testing
