// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>

// What blocks of the heap take by their requests alone.
//
// The heap pads a block with what is left of the free block that it was cut from. So the same run of an operator takes
// up to some hundred bytes more in one process than in another. Here a block counts with a size that depends only on
// its request, so equal requests count the same in every process.
namespace lowtide::python {

// What glibc gives for a request on average: of malloc, and of functions with an alignment. Blocks that have pages of
// their own take whole pages. 0 bytes take a block as well.
[[nodiscard]] std::int64_t plain_block_bytes(std::size_t size);
[[nodiscard]] std::int64_t aligned_block_bytes(std::size_t size);

// Counts the blocks that are requested through redirected entries (heap_calls.h) until the last end_requests(). Calls
// may be nested. The release of an earlier block changes nothing.
void begin_requests();
void end_requests();

// Bytes of the counted blocks that live, and the most of them since reset_requested_peak().
[[nodiscard]] std::int64_t requested_live();
[[nodiscard]] std::int64_t requested_peak();
void reset_requested_peak();

// For the replaced functions of the heap. They do nothing if nothing is counted, or for no block.
void note_request(void* block, std::int64_t bytes);
void forget_request(void* block);

}  // namespace lowtide::python
