// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "lowtide/base/result.h"
#include "lowtide/graph/constant_table.h"
#include "lowtide/weights/owned_bytes.h"

namespace lowtide {

struct WeightsOptions {
  // Fills the constants whose file is absent with values that follow from this seed (synthetic.h).
  // nullopt: an absent file is an error.
  std::optional<std::uint64_t> synthetic_seed;
  // open() makes no synthetic values. make_synthetic() makes those of a constant before they are read, so that only
  // those in use need memory.
  bool makes_synthetic_later = false;
};

// A result of load-time work, and where it begins in a block of memory.
struct ComputedPlace {
  ConstantId id;
  std::size_t begin = 0;
};

// The bytes of the constants of one model. Files are mapped, so a page is read when it is used first. Movable. Several
// threads may read at once, unless one of them changes the object.
class ModelWeights {
 public:
  // Maps the files of the table. `model_path` is the path of the model file; its folder has the external data. Errors:
  // (invalid) check_constants, or a file that is shorter than offset + size of a constant; (io) a file cannot be read;
  // (unsupported) synthetic values of an element type other than f64, f32, the integers and boolean; (no_memory).
  // O(constants + synthetic elements).
  [[nodiscard]] static Result<ModelWeights> open(const std::string& model_path, ConstantTable table,
                                                 const WeightsOptions& options = {});

  ModelWeights(const ModelWeights&) = delete;
  ModelWeights& operator=(const ModelWeights&) = delete;
  ModelWeights(ModelWeights&&) noexcept;
  ModelWeights& operator=(ModelWeights&&) noexcept;
  ~ModelWeights();

  [[nodiscard]] const ConstantTable& table() const;

  // The bytes of a constant, at any alignment. Valid as long as this object, which may be moved. nullopt for a
  // constant that load-time work computes, until it has been given bytes, and for synthetic values that are not made.
  // Requires: the table has the id.
  [[nodiscard]] std::optional<std::span<const std::byte>> bytes(ConstantId id) const;

  // Whether the bytes are those of the mapped file, and not of memory of this object.
  [[nodiscard]] bool is_mapped(ConstantId id) const;

  // Give results of load-time work their bytes. The first copies them to an address that is a multiple of 64. The
  // second takes the memory in which the work has written them, and returns its pages without results to the system.
  // Require: the sources are Computed, they have no bytes yet, and the bytes have their sizes. Errors: (no_memory).
  [[nodiscard]] Result<void> set_computed(ConstantId id, std::span<const std::byte> bytes);
  void adopt_computed(OwnedBytes memory, std::span<const ComputedPlace> results);

  // Makes the synthetic values of a constant whose file is absent. Does nothing if they are there, and for all other
  // constants. Errors: (unsupported) as open(); (no_memory). O(elements).
  [[nodiscard]] Result<void> make_synthetic(ConstantId id);
  // Does what make_synthetic() does, for any constant. One in a file is copied if kernels cannot read it there, because
  // its address is not a multiple of the size of its elements, or if it is shorter than a page: it would keep a page of
  // the file in memory, and the system maps further pages around it. All executables with these weights share the copy.
  [[nodiscard]] Result<void> hold(ConstantId id);

  // Returns the pages of the file that lie within this constant to the system. bytes() stays valid, and reading it
  // reads the file again. Does nothing for constants that are not in a file.
  void drop(ConstantId id) const;
  // Copies the bytes of a constant, and returns each page of the file after it was read, as drop(). Requires: bytes()
  // has as many.
  void copy_out(ConstantId id, std::span<std::byte> to) const;
  // Does what drop() does, for all pages of all files.
  void drop_files() const;
  // Does what drop() does. Synthetic values and copies of hold() lose their memory. For the former, bytes() is nullopt
  // until they are made again.
  void release(ConstantId id);

  // Checks that size and modification time of every file are as they were at open(). The files that were opened count,
  // not their paths: those may be deleted or given to other files. Errors: (mismatch) the file that changed; (io). One
  // system call per file.
  [[nodiscard]] Result<void> check_files() const;

  // Whether a file became shorter and bytes of it were read, which gave zeros. Always false without catch_file_faults()
  // (file_faults.h). Calls no system function.
  [[nodiscard]] bool has_lost_bytes() const noexcept;

 private:
  struct State;
  explicit ModelWeights(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace lowtide
