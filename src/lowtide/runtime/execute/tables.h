// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "lowtide/runtime/prepare/prepared.h"

namespace lowtide::runtime_internal {

// One kernel or copy of a run.
struct Row {
  RunStatus (*run)(BoundKernel* self, Team& team) = nullptr;
  BoundKernel* kernel = nullptr;
  StepId step;
};

// The addresses and the bound kernels of one session. Kernels refer to the cells and extents, so the object stays where
// it is.
class Tables {
 public:
  // Binds all actions. Requires: the arena has the bytes of the plan, and `prepared` outlives the tables. Throws
  // std::bad_alloc.
  Tables(const Prepared& prepared, std::span<std::byte> arena);
  Tables(const Tables&) = delete;
  Tables& operator=(const Tables&) = delete;
  ~Tables();

  [[nodiscard]] std::span<const Row> rows() const { return rows_; }
  [[nodiscard]] std::byte* address(ValueId value) const { return cells_[value]; }
  [[nodiscard]] std::span<const std::int64_t> extents(TensorId tensor) const;

  // The memory of an input or state; nullptr for an input without memory. Ignores tensors that nothing uses.
  [[nodiscard]] std::byte* base(TensorId tensor) const;
  void set_base(TensorId tensor, std::byte* address);

 private:
  struct BoundCopy;
  struct AlignedDelete {
    void operator()(std::byte* bytes) const { ::operator delete[](bytes, std::align_val_t{64}); }
  };
  using Block = std::unique_ptr<std::byte[], AlignedDelete>;

  static Block new_block(Bytes size);
  void find_extents();
  void find_addresses(std::span<std::byte> arena);
  void bind(const KernelAction& action, std::span<std::byte> arena);
  void bind(const CopyAction& action);
  [[nodiscard]] BoundTensor bound(ValueId value);
  void note_rebind(ValueId value, BoundKernel* kernel);

  const Prepared& prepared_;
  std::vector<std::int64_t> extents_;                      // of all tensors, one after another
  IdVector<TensorId, std::size_t> first_extent_;           // in extents_
  IdVector<BufferId, std::byte*> bases_;                   // of buffers without placement
  IdVector<BufferId, std::vector<ValueId>> values_;        // in buffers without placement
  IdVector<BufferId, std::vector<BoundKernel*>> rebinds_;  // kernels that must know a new base
  IdVector<ValueId, std::byte*> cells_;                    // nullptr: in an input without memory
  Block states_;                                           // of states that the caller did not bind
  Block objects_;                                          // bound kernels
  std::vector<BoundCopy> copies_;
  std::vector<Row> rows_;
};

}  // namespace lowtide::runtime_internal
