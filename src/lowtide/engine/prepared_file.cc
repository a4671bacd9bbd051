// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/engine/prepared_file.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "lowtide/base/try.h"
#include "lowtide/engine/load_time.h"
#include "lowtide/engine/prepared_head.h"
#include "lowtide/import/import.h"
#include "lowtide/plan/plans_json.h"

namespace lowtide {
namespace {

using engine_internal::kPreparedAlignment;
using engine_internal::PreparedHead;

constexpr std::array<char, kPreparedAlignment> kZeros = {};

// Puts constants behind each other.
class Pieces {
 public:
  // Returns the offset of the bytes, from the first ones.
  std::int64_t append(std::string_view bytes) {
    const std::int64_t padding = (kPreparedAlignment - end_ % kPreparedAlignment) % kPreparedAlignment;
    if (padding > 0) pieces_.emplace_back(kZeros.data(), static_cast<std::size_t>(padding));
    pieces_.push_back(bytes);
    const std::int64_t offset = end_ + padding;
    end_ = offset + static_cast<std::int64_t>(bytes.size());
    return offset;
  }

  // The same, but returns the offset of equal bytes if there are some. Bytes of one address are read once.
  std::int64_t append_once(std::string_view bytes) {
    const auto [same, is_new_place] = by_place_.try_emplace({bytes.data(), bytes.size()}, 0);
    if (!is_new_place) return same->second;
    const auto [equal, is_new] = by_digest_.try_emplace(text_digest(bytes), 0);
    if (is_new) equal->second = append(bytes);
    return same->second = equal->second;
  }

  [[nodiscard]] std::vector<std::string_view> take() && { return std::move(pieces_); }

 private:
  std::vector<std::string_view> pieces_;
  std::int64_t end_ = 0;
  std::map<std::pair<const char*, std::size_t>, std::int64_t> by_place_;
  std::map<std::string, std::int64_t> by_digest_;
};

PreparedHead head_of(const OpenedModel& model, bool shares_equal, Pieces& pieces) {
  const Executable& executable = *model.executable;
  PreparedHead head{.model_nodes = model.model_nodes,
                    .default_inputs = model.default_inputs,
                    .constants = {},
                    .graph = executable.graph(),
                    .plan = {executable.plan(), labels_of(executable.graph())}};
  const ConstantTable& table = executable.weights().table();
  for (ConstantId id : engine_internal::constants_of(executable.graph())) {
    if (!table.sources.contains(id)) continue;  // its content is known, and in the graph
    const std::optional<std::span<const std::byte>> bytes = executable.weights().bytes(id);
    if (!bytes) continue;  // no kernel reads it, because prepare() refuses operands without bytes
    const std::string_view piece(reinterpret_cast<const char*>(bytes->data()), bytes->size());
    const ConstantSource& source = table.sources[id];
    const std::int64_t offset = shares_equal ? pieces.append_once(piece) : pieces.append(piece);
    engine_internal::set_constant(head.constants, id,
                                  {source.name, source.dtype, source.shape, source.size,
                                   ConstantSource::InFile{.file = ConstantFileId(0), .offset = offset}});
  }
  return head;
}

Result<PreparedFile> file_of(std::span<const OpenedModel> models) {
  const bool is_range = models.size() > 1;
  std::vector<PreparedHead> heads;
  Pieces pieces;
  for (const OpenedModel& model : models) heads.push_back(head_of(model, is_range, pieces));
  LOWTIDE_TRY(std::string text, engine_internal::write_prepared_heads(heads));
  return PreparedFile{std::move(text), std::move(pieces).take()};
}

}  // namespace

Result<PreparedFile> prepared_file(const OpenedModel& model) { return file_of(std::span(&model, 1)); }

Result<PreparedFile> prepared_file(const OpenedRange& range) {
  if (static_cast<std::int64_t>(range.members.size()) <= kMaxPlansPerFile) return file_of(range.members);
  return Error{ErrorCode::over_limit,
               "there are " + std::to_string(range.members.size()) + " plans, and a prepared file has at most " +
                   std::to_string(kMaxPlansPerFile) + " (kMaxPlansPerFile)",
               ""};
}

}  // namespace lowtide
