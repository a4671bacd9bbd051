// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <span>

#include "lowtide/runtime/execute/graph_tables.h"

namespace lowtide::runtime_internal {

// The tables of all graphs of an executable, with their actions. Throws std::bad_alloc.
[[nodiscard]] AllTables make_tables(const Prepared& prepared, const Addresses& addresses, RunControl& control);

// Memory at a multiple of 64, all zero.
class Block {
 public:
  // Throws std::bad_alloc.
  explicit Block(Bytes size);
  [[nodiscard]] std::byte* data() const { return bytes_.get(); }

 private:
  struct AlignedDelete {
    void operator()(std::byte* bytes) const { ::operator delete[](bytes, std::align_val_t{64}); }
  };
  std::unique_ptr<std::byte[], AlignedDelete> bytes_;
};

// The tables of a session, and its memory outside of the arena. The object stays where it is.
struct SessionMemory {
  // Requires: the arena has the bytes of the executable, and `outside` has ExecutableMemory::outside. `prepared`
  // outlives the object. Throws std::bad_alloc.
  SessionMemory(const Prepared& prepared, std::span<std::byte> arena, std::span<std::byte> outside);

  [[nodiscard]] GraphTables& main() { return *tables.front(); }

  Block objects;
  Block states;  // that the caller did not bind
  Addresses addresses;
  RunControl control;
  AllTables tables;
};

}  // namespace lowtide::runtime_internal
