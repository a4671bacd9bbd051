// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/onnx/load/skeleton.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "lowtide/base/article.h"
#include "lowtide/base/limits.h"
#include "lowtide/base/try.h"
#include "lowtide/import/byte_reader.h"
#include "lowtide/import/onnx/load/wire_fields.h"
#include "lowtide/import/onnx/proto/raw_range.h"

namespace lowtide::import_internal {
namespace {

// The memory of a string: the object, its pointer, and a separate block if the text does not fit into the object.
std::int64_t text_cost(std::size_t length) { return static_cast<std::int64_t>(48 + (length > 15 ? length + 17 : 0)); }

constexpr std::uint32_t kRawData = onnx::TensorProto::kRawDataFieldNumber;
constexpr std::uint32_t kDocString = onnx::TensorProto::kDocStringFieldNumber;

std::string delimited(std::uint32_t field, const std::string& content) {
  static_assert(kRawData < 16 && kDocString < 16, "their tags take one byte");
  return std::string{static_cast<char>(field << 3U | 2U), static_cast<char>(content.size())} + content;
}

// Copies the fields of a file to the skeleton while it reads them.
class Copier {
 public:
  // `out`: as many bytes as the file has.
  Copier(const ByteSource& file, char* out) : reader_(file), out_(out) {}

  [[nodiscard]] ByteReader& reader() { return reader_; }
  [[nodiscard]] std::size_t at() const { return reader_.at(); }
  [[nodiscard]] std::size_t written() const { return written_; }

  char next() { return out_[written_++] = reader_.next(); }
  std::string_view copy(std::size_t count) {
    reader_.take(count, out_ + written_);
    written_ += count;
    return {out_ + written_ - count, count};
  }
  void skip(std::size_t count) { reader_.take(count, nullptr); }
  // Forgets what was written from `begin` on.
  void rewind(std::size_t begin) { written_ = begin; }
  void add(std::string_view bytes) {
    written_ = static_cast<std::size_t>(std::copy(bytes.begin(), bytes.end(), out_ + written_) - out_);
  }

  // Writes a smaller length over the varint in [begin, end), which keeps its number of bytes.
  void replace_length(std::size_t begin, std::size_t end, std::size_t length) {
    for (; begin + 1 < end; ++begin, length >>= 7U) out_[begin] = static_cast<char>((length & 0x7FU) | 0x80U);
    out_[begin] = static_cast<char>(length);
  }

 private:
  ByteReader reader_;
  char* out_;
  std::size_t written_ = 0;
};

class Scanner {
 public:
  Scanner(const ByteSource& file, FileBytes out) : copier_(file, out.data.get()), budget_(parse_budget(file.size())) {
    skeleton_.bytes = std::move(out);
  }

  Result<Skeleton> scan() && {
    stack_.push_back({.end = file_bytes(), .message = kModel});
    while (!stack_.empty()) {
      if (copier_.at() == stack_.back().end) {
        if (stack_.back().group != 0) return malformed("a group is not closed inside its message");
        leave();
        continue;
      }
      const Result<void> scanned = scan_field();
      if (copier_.reader().error()) return *copier_.reader().error();
      if (!scanned) return scanned.error();
      if (skeleton_.parsed_bytes > budget_) {
        return Error{ErrorCode::over_limit,
                     "parsing this file of " + std::to_string(file_bytes()) + " bytes would need more than " +
                         std::to_string(budget_) + " bytes, the limit of 64 MB + 16 x the file (parse_budget)",
                     place()};
      }
    }
    skeleton_.bytes.size = copier_.written();
    skeleton_.sha256 = copier_.reader().sha256();
    return std::move(skeleton_);
  }

 private:
  struct Frame {
    std::size_t end = 0;  // in the file
    Message message = kOther;
    std::uint32_t group = 0;  // field number of the group; 0 if it is not a group
    // In the skeleton: the varint of the length, and the first byte of the content. Equal for a group and the model.
    std::size_t length_at = 0;
    std::size_t content_at = 0;
  };

  [[nodiscard]] std::size_t file_bytes() { return copier_.reader().size(); }
  [[nodiscard]] std::string place() const { return "byte " + std::to_string(copier_.at()); }
  [[nodiscard]] Error malformed(const std::string& message) const { return {ErrorCode::malformed, message, place()}; }

  void leave() {
    const Frame& frame = stack_.back();
    if (frame.message == kGraph) --graphs_;
    if (frame.length_at < frame.content_at) {
      copier_.replace_length(frame.length_at, frame.content_at, copier_.written() - frame.content_at);
    }
    stack_.pop_back();
  }

  Result<void> enter(Frame frame) {
    stack_.push_back(frame);
    if (frame.message == kGraph) {
      skeleton_.body_nesting = std::max(skeleton_.body_nesting, graphs_);
      if (++graphs_ > limits::kMaxBodyNesting + 1) {
        return Error{ErrorCode::over_limit,
                     "graphs inside nodes are nested deeper than " + std::to_string(limits::kMaxBodyNesting) +
                         ", the limit (kMaxBodyNesting)",
                     place()};
      }
    }
    if (stack_.size() > static_cast<std::size_t>(kMaxMessageDepth)) {
      return Error{
          ErrorCode::over_limit,
          "messages are nested deeper than " + std::to_string(kMaxMessageDepth) + ", the limit (kMaxMessageDepth)",
          place()};
    }
    if (frame.message == kNode && ++skeleton_.nodes > limits::kMaxNodes) {
      return Error{ErrorCode::over_limit,
                   "there are more than " + std::to_string(limits::kMaxNodes) + " nodes, the limit (kMaxNodes)",
                   place()};
    }
    return {};
  }

  // Returns nullopt if the number is longer than 10 bytes or than its message.
  std::optional<std::uint64_t> take_varint() {
    const std::size_t end = std::min(stack_.back().end, copier_.at() + 10);
    std::uint64_t value = 0;
    for (unsigned shift = 0; copier_.at() < end; shift += 7) {
      const auto byte = static_cast<unsigned char>(copier_.next());
      value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
      if (byte < 0x80) return value;
    }
    return std::nullopt;
  }

  Result<void> copy(std::size_t length) {
    if (length > stack_.back().end - copier_.at()) return malformed("a number is cut off by the end of its message");
    copier_.copy(length);
    return {};
  }

  Result<void> scan_field() {
    const std::size_t begin = copier_.written();
    const std::optional<std::uint64_t> tag = take_varint();
    if (!tag) return malformed("a field tag is cut off or longer than 10 bytes");
    const std::uint64_t number = *tag >> 3U;
    if (number == 0 || *tag > 0xFFFFFFFFU)
      return malformed("field number " + std::to_string(number) + " does not exist");
    switch (*tag & 7U) {
      case 0:
        if (!take_varint()) return malformed("a number is cut off or longer than 10 bytes");
        skeleton_.parsed_bytes += 16;
        return {};
      case 1: skeleton_.parsed_bytes += 16; return copy(8);
      case 2: return scan_delimited(static_cast<std::uint32_t>(number), begin);
      case 3:
        skeleton_.parsed_bytes += kDefaultMessageCost;
        return enter({.end = stack_.back().end, .group = static_cast<std::uint32_t>(number)});
      case 4:
        if (stack_.back().group != number) return malformed("the end of a group has no matching start");
        leave();
        return {};
      case 5: skeleton_.parsed_bytes += 16; return copy(4);
      default: return malformed("wire type " + std::to_string(*tag & 7U) + " does not exist");
    }
  }

  // `begin`: of the field in the skeleton.
  Result<void> scan_delimited(std::uint32_t number, std::size_t begin) {
    const std::size_t length_at = copier_.written();
    const std::optional<std::uint64_t> length = take_varint();
    if (!length) return malformed("a length is cut off or longer than 10 bytes");
    const std::size_t available = stack_.back().end - copier_.at();
    if (*length > available) {
      return malformed("a field has length " + std::to_string(*length) + ", but its message has only " +
                       with_count(static_cast<std::int64_t>(available), "byte") + " left");
    }
    const auto size = static_cast<std::size_t>(*length);
    const Field* field = find_field(stack_.back().message, number);
    if (field != nullptr && field->content == kNested) {
      skeleton_.parsed_bytes += static_cast<std::int64_t>(field->cost);
      return enter({.end = copier_.at() + size,
                    .message = field->child,
                    .length_at = length_at,
                    .content_at = copier_.written()});
    }
    if (field != nullptr && field->content == kVarints) {
      const std::string_view packed = copier_.copy(size);
      const auto count = std::count_if(packed.begin(), packed.end(), [](char byte) { return (byte & 0x80) == 0; });
      skeleton_.parsed_bytes += 16 * static_cast<std::int64_t>(count);  // 8 bytes each, in an array that doubles
    } else if (field != nullptr && field->content == kFixed) {
      skeleton_.parsed_bytes += static_cast<std::int64_t>(size);
      copier_.copy(size);
    } else {
      skeleton_.parsed_bytes += text_cost(size);
      take_text(number, size, begin);
    }
    return {};
  }

  // Copies a text or raw data, unless the skeleton leaves them out. If a field appears twice, protobuf uses the last
  // one. So a reference erases earlier raw data, and raw_range_of() ignores a reference before later raw data.
  void take_text(std::uint32_t number, std::size_t size, std::size_t begin) {
    const bool is_of_tensor = stack_.back().message == kTensor;
    const bool is_long = is_of_tensor && number == kRawData && size > kMostKeptRawBytes;
    if (!is_long && !(is_of_tensor && number == kDocString)) {
      copier_.copy(size);
      return;
    }
    const RawRange range{static_cast<std::int64_t>(copier_.at()), static_cast<std::int64_t>(size)};
    copier_.rewind(begin);
    copier_.skip(size);
    if (is_long) copier_.add(delimited(kDocString, reference_to(range)) + delimited(kRawData, ""));
  }

  Copier copier_;
  std::int64_t budget_;
  std::int64_t graphs_ = 0;  // graphs open on the stack
  std::vector<Frame> stack_;
  Skeleton skeleton_;
};

}  // namespace

std::int64_t parse_budget(std::int64_t file_bytes) { return (std::int64_t{64} << 20) + 16 * file_bytes; }

Result<Skeleton> read_skeleton(const ByteSource& file) {
  LOWTIDE_TRY(FileBytes out, allocate_bytes(file.size()));
  return Scanner(file, std::move(out)).scan();
}

}  // namespace lowtide::import_internal
