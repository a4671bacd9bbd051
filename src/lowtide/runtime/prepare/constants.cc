// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "lowtide/base/article.h"
#include "lowtide/base/listed.h"
#include "lowtide/base/quote.h"
#include "lowtide/graph/integer_types.h"
#include "lowtide/runtime/prepare/prepare.h"

namespace lowtide::runtime_internal {
namespace {

// Appends the lowest `count` bytes of a number, the lowest first.
void append_bytes(std::int64_t number, int count, std::vector<std::byte>& out) {
  for (int at = 0; at < count; ++at) {
    out.push_back(static_cast<std::byte>(static_cast<std::uint64_t>(number) >> (8 * static_cast<unsigned>(at))));
  }
}

// The bytes of integers in a type of whole bytes. nullopt: the type is not one.
std::optional<std::vector<std::byte>> encoded(const std::vector<std::int64_t>& content, DType dtype) {
  if (!is_integer_of_bytes(dtype)) return std::nullopt;
  std::vector<std::byte> bytes;
  for (std::int64_t number : content) append_bytes(number, bits_of(dtype).value_or(8) / 8, bytes);
  return bytes;
}

// Memory for as long as the executable.
std::span<std::byte> new_copy(Prepared& prepared, std::size_t size) {
  std::optional<OwnedBytes> memory = OwnedBytes::allocate(Bytes(static_cast<std::int64_t>(size)));
  if (!memory) throw std::bad_alloc();
  return prepared.copies.emplace_back(*std::move(memory)).bytes();
}

// Sets the bytes of a constant. Returns false if it has none.
bool find_bytes(Prepared& prepared, PreparedGraph& in, TensorId id) {
  const Tensor& tensor = in.graph.tensor(id);
  if (tensor.constant && prepared.weights->table().sources.contains(*tensor.constant)) {
    const std::optional<std::span<const std::byte>> bytes = prepared.weights->bytes(*tensor.constant);
    if (!bytes || static_cast<std::int64_t>(bytes->size()) != tensor.size.count()) return false;
    const auto element = static_cast<std::size_t>(std::max(bits_of(tensor.dtype).value_or(8) / 8, 1));
    if (reinterpret_cast<std::uintptr_t>(bytes->data()) % element == 0) {
      in.constants[id] = *bytes;
      return true;
    }
    const std::span<std::byte> copy = new_copy(prepared, bytes->size());
    prepared.weights->copy_out(*tensor.constant, copy);
    in.constants[id] = copy;
  } else {
    const std::vector<std::int64_t>* content = in.graph.known_integers(id);
    std::optional<std::vector<std::byte>> bytes = content != nullptr ? encoded(*content, tensor.dtype) : std::nullopt;
    if (!bytes || static_cast<std::int64_t>(bytes->size()) != tensor.size.count()) return false;
    const std::span<std::byte> copy = new_copy(prepared, bytes->size());
    std::ranges::copy(*bytes, copy.begin());
    in.constants[id] = copy;
  }
  in.is_copied.set(id);
  return true;
}

// Gives the constants that a body captures the bytes that they have outside.
void take_captured(const IdVector<PreparedGraphId, PreparedGraph>& graphs, PreparedGraph& in) {
  for (const PreparedCapture& capture : in.captures) {
    const PreparedGraph& outer = graphs[in.around->graph];
    in.constants[capture.inner] = outer.constants[outer.plan.program.values[capture.outer].tensor];
  }
}

// Appends the names of constants without bytes.
void find_in(Prepared& prepared, PreparedGraph& in, std::vector<std::string>& missing) {
  const std::size_t tensors = in.graph.tensors().size();
  in.given = IdVector<TensorId, std::optional<ValueId>>(tensors);
  in.buffer_of = IdVector<TensorId, std::optional<BufferId>>(tensors);
  in.is_copied = Flags<TensorId>(tensors);
  in.constants = IdVector<TensorId, std::span<const std::byte>>(tensors);
  take_captured(prepared.graphs, in);
  for (ValueId id : all_ids<ValueId>(in.plan.program.values.size())) {
    const Value& value = in.plan.program.values[id];
    if (value.written) continue;
    in.given[value.tensor] = id;
    const BufferId buffer = in.plan.layout.values[id].buffer;
    if (!in.plan.layout.buffers[buffer].placement) in.buffer_of[value.tensor] = buffer;
    const Tensor& tensor = in.graph.tensor(value.tensor);
    if (tensor.role != Role::constant || tensor.is_captured) continue;
    if (!find_bytes(prepared, in, value.tensor)) missing.push_back(quoted(in.path + tensor.name));
  }
}

}  // namespace

Result<void> find_constants(Prepared& prepared) {
  std::vector<std::string> missing;
  for (PreparedGraph& one : prepared.graphs) find_in(prepared, one, missing);
  if (missing.empty()) return {};
  return Error{ErrorCode::invalid,
               with_count(static_cast<std::int64_t>(missing.size()), "constant") + " without bytes: " +
                   listed(missing) + "; the file must contain them, or load-time work must compute them first",
               "graph " + quoted(prepared.graph.name())};
}

}  // namespace lowtide::runtime_internal
