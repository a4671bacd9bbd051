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

namespace lowtide {

struct WeightsOptions {
  // Fills the constants whose file is absent with values that follow from this seed (synthetic.h).
  // nullopt: an absent file is an error.
  std::optional<std::uint64_t> synthetic_seed;
};

// The bytes of the constants of one model. Files are mapped, so a page is read when it is used first. Movable. After
// open(), several threads may read at once.
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
  // constant that load-time work computes, until set_computed() has given it bytes. Requires: the table has the id.
  [[nodiscard]] std::optional<std::span<const std::byte>> bytes(ConstantId id) const;

  // Whether the bytes are those of the mapped file, and not a copy in memory.
  [[nodiscard]] bool is_mapped(ConstantId id) const;

  // Gives the result of load-time work its bytes, which are copied to an address that is a multiple of 64. Requires:
  // the source is Computed, it has no bytes yet, and `bytes` has its size. Errors: (no_memory).
  [[nodiscard]] Result<void> set_computed(ConstantId id, std::span<const std::byte> bytes);

  // Returns the pages of the file that lie within this constant to the system. bytes() stays valid, and reading it
  // reads the file again. Does nothing for constants that are not in a file.
  void drop(ConstantId id) const;

  // Checks that size, modification time and inode of every file are as they were at open(). Errors: (mismatch) the
  // file that changed; (io). One system call per file.
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
