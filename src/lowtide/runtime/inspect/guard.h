// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lowtide/runtime/inspect/probe.h"

namespace lowtide::runtime_internal {

// Which end of a buffer is next to the page without access. The other end has up to a page of unused bytes.
enum class GuardSide { after, before };

// Blocks of memory with a page without access on each side.
class GuardedBlocks {
 public:
  explicit GuardedBlocks(GuardSide side) : side_(side) {}
  GuardedBlocks(const GuardedBlocks&) = delete;
  GuardedBlocks& operator=(const GuardedBlocks&) = delete;
  ~GuardedBlocks();

  // A block at a multiple of `alignment`. If it must end at a page, up to alignment - 1 bytes follow it. Throws
  // std::bad_alloc.
  std::byte* add(std::size_t size, std::size_t alignment, std::string name);

  // "12 bytes after buffer 'y'", for an address in a page without access. nullopt: the address is not in one.
  [[nodiscard]] std::optional<std::string> describe(const void* address) const;
  [[nodiscard]] bool contains(const void* address) const;

 private:
  struct Block {
    std::byte* mapped;
    std::size_t length;
    std::byte* begin;
    std::size_t size;
    std::string name;
  };

  GuardSide side_;
  std::vector<Block> blocks_;
};

// Gives each buffer a block of its own.
class GuardedAddresses final : public Addresses {
 public:
  // Throws std::bad_alloc. `blocks` must outlive the object.
  GuardedAddresses(const Prepared& prepared, const SessionBytes& memory, GuardedBlocks& blocks);
  [[nodiscard]] std::byte* of_buffer(PreparedGraphId graph, BufferId buffer) const override {
    return buffers_[graph][buffer];
  }

 private:
  IdVector<PreparedGraphId, IdVector<BufferId, std::byte*>> buffers_;
};

// Calls `work`. Returns the address of an access to one of the blocks' pages without access, which ends the work, or
// nullptr. Other faults go to the handlers of before.
[[nodiscard]] const void* run_until_fault(const GuardedBlocks& blocks, const std::function<void()>& work);

}  // namespace lowtide::runtime_internal
