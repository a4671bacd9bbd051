// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "lowtide/base/article.h"
#include "lowtide/base/listed.h"
#include "lowtide/base/quote.h"
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
  switch (dtype) {
    case DType::i64:
    case DType::i32:
    case DType::i16:
    case DType::i8:
    case DType::u64:
    case DType::u32:
    case DType::u16:
    case DType::u8:
    case DType::boolean: break;
    default: return std::nullopt;
  }
  std::vector<std::byte> bytes;
  for (std::int64_t number : content) append_bytes(number, bits_of(dtype).value_or(8) / 8, bytes);
  return bytes;
}

// Sets the bytes of a constant. Returns false if it has none.
bool find_bytes(Prepared& prepared, TensorId id) {
  const Tensor& tensor = prepared.graph.tensor(id);
  if (tensor.constant && prepared.weights->table().sources.contains(*tensor.constant)) {
    const std::optional<std::span<const std::byte>> bytes = prepared.weights->bytes(*tensor.constant);
    if (!bytes || static_cast<std::int64_t>(bytes->size()) != tensor.size.count()) return false;
    const auto element = static_cast<std::size_t>(std::max(bits_of(tensor.dtype).value_or(8) / 8, 1));
    if (reinterpret_cast<std::uintptr_t>(bytes->data()) % element == 0) {
      prepared.constants[id] = *bytes;
      return true;
    }
    prepared.copies.emplace_back(bytes->begin(), bytes->end());
    prepared.weights->drop(*tensor.constant);
  } else {
    const std::vector<std::int64_t>* content = prepared.graph.known_integers(id);
    std::optional<std::vector<std::byte>> bytes = content != nullptr ? encoded(*content, tensor.dtype) : std::nullopt;
    if (!bytes) return false;
    prepared.copies.push_back(std::move(*bytes));
  }
  prepared.is_copied.set(id);
  prepared.constants[id] = prepared.copies.back();
  return true;
}

}  // namespace

Result<void> find_constants(Prepared& prepared) {
  const Plan& plan = prepared.plan;
  prepared.buffer_of = IdVector<TensorId, std::optional<BufferId>>(prepared.graph.tensors().size());
  prepared.is_copied = Flags<TensorId>(prepared.graph.tensors().size());
  prepared.constants = IdVector<TensorId, std::span<const std::byte>>(prepared.graph.tensors().size());
  std::vector<std::string> missing;
  for (ValueId id : all_ids<ValueId>(plan.program.values.size())) {
    const Value& value = plan.program.values[id];
    if (value.written) continue;
    if (!plan.layout.buffers[plan.layout.values[id].buffer].placement) {
      prepared.buffer_of[value.tensor] = plan.layout.values[id].buffer;
    }
    if (prepared.graph.tensor(value.tensor).role != Role::constant) continue;
    if (!find_bytes(prepared, value.tensor)) missing.push_back(quoted(prepared.graph.tensor(value.tensor).name));
  }
  if (missing.empty()) return {};
  return Error{ErrorCode::invalid,
               with_count(static_cast<std::int64_t>(missing.size()), "constant") + " without bytes: " +
                   listed(missing) + "; the file must contain them, or load-time work must compute them first",
               "graph " + quoted(prepared.graph.name())};
}

}  // namespace lowtide::runtime_internal
