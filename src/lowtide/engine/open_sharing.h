// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <optional>
#include <string>

#include "lowtide/base/bytes.h"
#include "lowtide/base/no_memory.h"
#include "lowtide/base/quote.h"
#include "lowtide/engine/engine.h"
#include "lowtide/weights/weights.h"

namespace lowtide::engine_internal {

// The weights of a model that was opened before, with the results of its load-time work.
struct SharedWeights {
  std::shared_ptr<ModelWeights> weights;  // nullptr: no model was opened yet
  std::string load;                       // the text of the graph of the load-time work
  Bytes load_time_arena;
};

// Opens a model as open_model() does. If table of constants and load-time work are those of `shared`, takes its
// weights; otherwise puts those of this model there. `rank`: each node has the kernel with this index among those that
// are offered for it, or the last one.
[[nodiscard]] Result<OpenedModel> open_sharing(const std::string& path, const OpenOptions& options,
                                               SharedWeights& shared, std::optional<std::size_t> rank = std::nullopt);

// Returns what open() returns, or an error if the system has no memory for it. What the failed load holds is free again
// before the error is made.
template <typename Open>
[[nodiscard]] auto or_no_memory(const std::string& path, Open open) -> decltype(open()) {
  try {
    return open();
  } catch (const std::bad_alloc&) {
    return no_memory_error([&] {
      return Error{ErrorCode::no_memory, "the system has no memory to load the model", shown_path(path)};
    });
  }
}

// Returns what is free in the heap to the system. What reading and planning a model has freed would otherwise stay with
// the process, beside the weights. Does nothing where the C library is not glibc, and if ProcessOptions::trims_heap is
// false.
void give_back_heap();

// Gives back what give_back_heap() does, and what kernels keep for further loads (release_kernel_caches).
void give_back_memory();

}  // namespace lowtide::engine_internal
