// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "lowtide/runtime/execute/session_memory.h"
#include "lowtide/runtime/port.h"

namespace lowtide::runtime_internal {

// Four bytes that are repeated, by address. The first is a signalling NaN as f32 and -5,921,371 as i32, and the second
// an ordinary number. They differ in every byte.
using Pattern = std::array<std::byte, 4>;
inline constexpr Pattern kFirstPattern{std::byte{0xA5}, std::byte{0xA5}, std::byte{0xA5}, std::byte{0xFF}};
inline constexpr Pattern kSecondPattern{std::byte{0x96}, std::byte{0x3C}, std::byte{0x5A}, std::byte{0x3F}};

using MakeAddresses = std::function<std::unique_ptr<Addresses>(const Prepared& prepared, const SessionBytes& memory)>;

// Where the memory outside of the arena begins in Probe::arena().
[[nodiscard]] Offset outside_begin(const Prepared& prepared);

// The addresses of a plain session.
[[nodiscard]] std::unique_ptr<Addresses> plain_addresses(const Prepared& prepared, const SessionBytes& memory);

// A session that an observer sees.
class Probe {
 public:
  // Throws std::bad_alloc.
  explicit Probe(const Prepared& prepared, const MakeAddresses& make_addresses = &plain_addresses);

  // Binds the inputs, writes those that are in the arena, and fills the states with zeros.
  void set_inputs(std::span<const TensorRef> inputs);
  [[nodiscard]] RunStatus run(StepObserver& observer, Team& team);
  // The innermost step that did not succeed in the last run. Forgets it.
  [[nodiscard]] std::optional<RunPlace> take_failed_place() { return runtime_internal::take_failed_place(tables_); }

  [[nodiscard]] const Prepared& prepared() const { return prepared_; }
  [[nodiscard]] const AllTables& tables() const { return tables_; }
  // The bytes of the executable, then those outside of the arena (outside_begin), and some beyond them that nothing may
  // touch.
  [[nodiscard]] std::span<std::byte> arena() const;
  // Fills the arena with four bytes that repeat. Call it before set_inputs().
  void fill(const Pattern& pattern);

 private:
  const Prepared& prepared_;
  Block arena_;  // with kMargin bytes before and after it
  Block objects_;
  Block states_;
  std::unique_ptr<Addresses> addresses_;
  RunControl control_;
  AllTables tables_;
};

}  // namespace lowtide::runtime_internal
