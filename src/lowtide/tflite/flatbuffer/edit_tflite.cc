// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/tflite/flatbuffer/edit_tflite.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "lowtide/base/check.h"
#include "lowtide/base/limits.h"
#include "lowtide/base/try.h"
#include "lowtide/tflite/flatbuffer/schema.h"

namespace lowtide {
namespace flatbuffer_internal {
namespace {

using flatbuffers::uoffset_t;
using flatbuffers::voffset_t;

constexpr std::size_t kDistance = 64;  // the old file moves by a multiple of this, so that nothing loses its alignment
constexpr std::size_t kDataAlignment = 16;
constexpr std::size_t kModelFields = 10;  // of the format as of 2026; all but the first are offsets

template <typename T>
void put(std::string& bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

template <typename T>
void add(std::string& bytes, std::size_t at, T amount) {
  T value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  put<T>(bytes, at, static_cast<T>(value + amount));
}

Error unsupported(const char* what) { return {ErrorCode::unsupported, what, ""}; }

// Permutes the offsets in the lists of operators.
Result<void> reorder(const AlignedCopy& old, const Model& root, const TfliteEdit& edit, std::string& bytes) {
  std::map<const void*, std::uint32_t> users;  // of each list
  for (const SubGraph* subgraph : *root.subgraphs()) ++users[subgraph->operators()];
  for (std::uint32_t index = 0; index < std::min<std::size_t>(edit.orders.size(), root.subgraphs()->size()); ++index) {
    const std::vector<std::uint32_t>& order = edit.orders[index];
    if (order.empty()) continue;
    const auto* operators = root.subgraphs()->Get(index)->operators();
    LOWTIDE_CHECK(operators != nullptr && order.size() == operators->size(), "an order has all operators");
    if (users[operators] > 1) return unsupported("two subgraphs share one list of operators");
    for (std::uint32_t at = 0; at < order.size(); ++at) {
      const std::int64_t place = old.offset_of(operators->Data()) + std::int64_t{at} * 4;
      const std::int64_t distance = old.offset_of(operators->Get(order[at])) - place;
      if (distance <= 0) return unsupported("an operator is in front of the list that it is in");
      put(bytes, static_cast<std::size_t>(place), static_cast<uoffset_t>(distance));
    }
  }
  return {};
}

bool has_name(const Metadata& one, const std::string& name) {
  return one.name() != nullptr && one.name()->string_view() == name;
}

// How many tensors and entries of metadata have a buffer.
std::size_t users_of(const Model& root, std::uint32_t buffer) {
  std::size_t users = 0;
  for (const SubGraph* subgraph : *root.subgraphs()) {
    if (subgraph->tensors() == nullptr) continue;
    for (const Tensor* tensor : *subgraph->tensors()) users += tensor->buffer() == buffer ? 1 : 0;
  }
  for (const Metadata* one : *root.metadata()) users += one->buffer() == buffer ? 1 : 0;
  return users;
}

// The place of the bytes of an entry that the new ones can replace.
std::optional<std::size_t> replaceable(const AlignedCopy& old, const Model& root, const TfliteEdit& edit) {
  if (root.metadata() == nullptr || root.buffers() == nullptr) return std::nullopt;
  const Metadata* found = nullptr;
  for (const Metadata* one : *root.metadata()) {
    if (!has_name(*one, edit.metadata_name)) continue;
    if (found != nullptr) return std::nullopt;
    found = one;
  }
  if (found == nullptr || found->buffer() >= root.buffers()->size()) return std::nullopt;
  const auto* data = root.buffers()->Get(found->buffer())->data();
  if (data == nullptr || data->size() != edit.metadata.size() || data->size() == 0) return std::nullopt;
  if (users_of(root, found->buffer()) != 1) return std::nullopt;
  return static_cast<std::size_t>(old.offset_of(data->data()));
}

// The new begin of a file. Offsets to the old file are known only when the distance is, so they are kept until then.
class Front {
 public:
  Front(const AlignedCopy& old, const Model& root, const TfliteEdit& edit) : old_(old), root_(root), edit_(edit) {}

  Result<std::string> write() {
    const auto* table = reinterpret_cast<const flatbuffers::Table*>(&root_);
    const auto* vtable = table->GetVTable();
    const auto vtable_size = flatbuffers::ReadScalar<voffset_t>(vtable);
    if ((vtable_size - 4u) / 2 > kModelFields) return unsupported("the root has fields of a later version");
    bytes_.assign(8, '\0');
    std::memcpy(bytes_.data() + 4, "TFL3", 4);
    const std::size_t model = new_table(std::vector<bool>(kModelFields, true));
    put<uoffset_t>(bytes_, 0, static_cast<uoffset_t>(model));
    put<std::uint32_t>(bytes_, field(model, 0), root_.version());
    for (std::size_t at = 1; at < kModelFields; ++at) {
      const auto* old_field = table->GetAddressOf(flatbuffers::FieldIndexToOffset(static_cast<voffset_t>(at)));
      const bool is_new = at == kBuffers || at == kMetadata;
      if (old_field == nullptr && !is_new) {
        drop_field(model, at);
      } else if (!is_new) {
        point_to_old(field(model, at), old_field + flatbuffers::ReadScalar<uoffset_t>(old_field));
      }
    }
    const std::uint32_t buffer = write_buffers(field(model, kBuffers));
    write_metadata(field(model, kMetadata), buffer);
    pad(kDistance);
    if (bytes_.size() + old_.size() >= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
      return Error{ErrorCode::over_limit, "the new file would have 2 GiB", ""};
    }
    for (const auto& [place, target] : to_old_) {
      put<uoffset_t>(bytes_, place, static_cast<uoffset_t>(bytes_.size() - place + target));
    }
    return bytes_;
  }

 private:
  static constexpr std::size_t kBuffers = 4;
  static constexpr std::size_t kMetadata = 6;

  void pad(std::size_t alignment) { bytes_.resize((bytes_.size() + alignment - 1) / alignment * alignment, '\0'); }

  // A table whose fields have 4 bytes each, with the table of its fields in front. Returns its place.
  std::size_t new_table(const std::vector<bool>& fields) {
    pad(4);
    const std::size_t vtable = bytes_.size();
    const std::size_t vtable_size = 4 + 2 * fields.size();
    const std::size_t table = (vtable + vtable_size + 3) / 4 * 4;
    bytes_.resize(table + 4 + 4 * fields.size(), '\0');
    put<voffset_t>(bytes_, vtable, static_cast<voffset_t>(vtable_size));
    put<voffset_t>(bytes_, vtable + 2, static_cast<voffset_t>(4 + 4 * fields.size()));
    for (std::size_t at = 0; at < fields.size(); ++at) {
      put<voffset_t>(bytes_, vtable + 4 + 2 * at, static_cast<voffset_t>(fields[at] ? 4 + 4 * at : 0));
    }
    put<flatbuffers::soffset_t>(bytes_, table, static_cast<flatbuffers::soffset_t>(table - vtable));
    return table;
  }

  static std::size_t field(std::size_t table, std::size_t at) { return table + 4 + 4 * at; }

  void drop_field(std::size_t table, std::size_t at) {
    flatbuffers::soffset_t distance = 0;
    std::memcpy(&distance, bytes_.data() + table, sizeof distance);
    put<voffset_t>(bytes_, table - static_cast<std::size_t>(distance) + 4 + 2 * at, 0);
  }

  void point_to_old(std::size_t place, const void* target) {
    to_old_.emplace_back(place, static_cast<std::size_t>(old_.offset_of(target)));
  }
  void point_to(std::size_t place, std::size_t target) {
    put<uoffset_t>(bytes_, place, static_cast<uoffset_t>(target - place));
  }

  // A list of offsets. Returns the place of the first.
  std::size_t new_list(std::size_t from, std::size_t count) {
    pad(4);
    point_to(from, bytes_.size());
    const std::size_t begin = bytes_.size() + 4;
    bytes_.resize(begin + 4 * count, '\0');
    put<std::uint32_t>(bytes_, begin - 4, static_cast<std::uint32_t>(count));
    return begin;
  }

  // Writes the list of buffers with the new one at its end. Returns the number of that one.
  std::uint32_t write_buffers(std::size_t from) {
    const std::uint32_t count = root_.buffers() != nullptr ? root_.buffers()->size() : 0;
    const std::uint32_t missing = count == 0 ? 1 : 0;  // buffer 0 is empty in all files
    const std::size_t list = new_list(from, count + missing + 1);
    for (std::uint32_t at = 0; at < count; ++at) point_to_old(list + std::size_t{4} * at, root_.buffers()->Get(at));
    for (std::uint32_t at = 0; at < missing; ++at) point_to(list + std::size_t{4} * at, new_table({}));
    const std::uint32_t number = count + missing;
    const std::size_t buffer = new_table({true});
    point_to(list + std::size_t{4} * number, buffer);
    // The length is in front of the bytes.
    bytes_.resize(bytes_.size() + 4);
    pad(kDataAlignment);
    put<std::uint32_t>(bytes_, bytes_.size() - 4, static_cast<std::uint32_t>(edit_.metadata.size()));
    point_to(field(buffer, 0), bytes_.size() - 4);
    bytes_ += edit_.metadata;
    return number;
  }

  void write_metadata(std::size_t from, std::uint32_t buffer) {
    std::vector<const Metadata*> kept;
    if (root_.metadata() != nullptr) {
      for (const Metadata* one : *root_.metadata()) {
        if (!has_name(*one, edit_.metadata_name)) kept.push_back(one);
      }
    }
    const std::size_t list = new_list(from, kept.size() + 1);
    for (std::size_t at = 0; at < kept.size(); ++at) point_to_old(list + 4 * at, kept[at]);
    const std::size_t entry = new_table({true, true});
    point_to(list + 4 * kept.size(), entry);
    put<std::uint32_t>(bytes_, field(entry, 1), buffer);
    pad(4);
    point_to(field(entry, 0), bytes_.size());
    const std::size_t length = bytes_.size();
    bytes_.resize(length + 4);
    put<std::uint32_t>(bytes_, length, static_cast<std::uint32_t>(edit_.metadata_name.size()));
    bytes_ += edit_.metadata_name;
    bytes_ += '\0';
  }

  const AlignedCopy& old_;
  const Model& root_;
  const TfliteEdit& edit_;
  std::string bytes_;
  std::vector<std::pair<std::size_t, std::size_t>>
      to_old_;  // place of an offset, and what it points to in the old file
};

// Adds the distance to all places that are counted from the begin of the file. `bytes` are those of the old file.
void move_places(const AlignedCopy& old, const Model& root, std::uint64_t distance, std::string& bytes) {
  std::set<std::int64_t> fields;  // each once, because tables may be shared
  const auto take = [&](const void* table, voffset_t field_offset) {
    const auto* at = static_cast<const flatbuffers::Table*>(table)->GetAddressOf(field_offset);
    if (at != nullptr && flatbuffers::ReadScalar<std::uint64_t>(at) > 1) fields.insert(old.offset_of(at));
  };
  if (root.buffers() != nullptr) {
    for (const Buffer* buffer : *root.buffers()) take(buffer, Buffer::VT_OFFSET);
  }
  for (const SubGraph* subgraph : *root.subgraphs()) {
    if (subgraph->operators() == nullptr) continue;
    for (const Operator* op : *subgraph->operators()) take(op, Operator::VT_LARGE_CUSTOM_OPTIONS_OFFSET);
  }
  for (std::int64_t field : fields) add<std::uint64_t>(bytes, static_cast<std::size_t>(field), distance);
}

}  // namespace
}  // namespace flatbuffer_internal

Result<std::string> edit_tflite(std::string_view file, const TfliteEdit& edit) {
  using flatbuffer_internal::AlignedCopy;
  using flatbuffer_internal::Model;
  const AlignedCopy old(file);
  LOWTIDE_TRY(const Model* root, flatbuffer_internal::root_of(old));
  std::string bytes(file);
  LOWTIDE_RETURN_IF_ERROR(flatbuffer_internal::reorder(old, *root, edit, bytes));
  if (edit.metadata_name.empty()) return bytes;
  if (const std::optional<std::size_t> place = flatbuffer_internal::replaceable(old, *root, edit)) {
    bytes.replace(*place, edit.metadata.size(), edit.metadata);
    return bytes;
  }
  LOWTIDE_TRY(std::string front, flatbuffer_internal::Front(old, *root, edit).write());
  flatbuffer_internal::move_places(old, *root, front.size(), bytes);
  return front + bytes;
}

}  // namespace lowtide
