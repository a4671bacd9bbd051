// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/csv.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lowtide/base/article.h"
#include "lowtide/base/checked.h"
#include "lowtide/base/limits.h"
#include "lowtide/base/listed.h"
#include "lowtide/base/parse_number.h"
#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"

namespace lowtide {
namespace {

enum Column : std::size_t { kId, kLower, kUpper, kSize, kAlignment, kOffset, kGaps, kColumns };
constexpr std::array<std::string_view, kColumns> kNames = {"id",        "lower",  "upper", "size",
                                                           "alignment", "offset", "gaps"};
constexpr std::size_t kRequired = kAlignment;  // the required columns are those before this one

struct Lines {
  std::string_view rest;
  std::size_t number = 0;  // of the line that was taken last

  // Returns nullopt at the end of the text.
  std::optional<std::string_view> take() {
    if (rest.empty()) return std::nullopt;
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    ++number;
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    return line;
  }
};

Error refuse(std::size_t line, std::string_view column, const std::string& message,
             ErrorCode code = ErrorCode::malformed) {
  std::string place = "line " + std::to_string(line);
  if (!column.empty()) place += ", column " + quoted(column);
  return Error{code, message, place};
}

void split(std::string_view text, char separator, std::vector<std::string_view>& out) {
  out.clear();
  while (true) {
    const std::size_t end = text.find(separator);
    out.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

// Splits a line at its commas. Spaces and tabs around a field are not part of it.
void split_fields(std::string_view line, std::vector<std::string_view>& out) {
  constexpr std::string_view kBlanks = " \t";
  split(line, ',', out);
  for (std::string_view& field : out) {
    field.remove_prefix(std::min(field.find_first_not_of(kBlanks), field.size()));
    field = field.substr(0, field.find_last_not_of(kBlanks) + 1);
  }
}

constexpr std::size_t kFirstRow = 2;  // the line of the first buffer; line 1 is the header

class Parser {
 public:
  explicit Parser(std::string_view text) : lines_{text} {}

  Result<PackingProblem> parse() {
    LOWTIDE_RETURN_IF_ERROR(parse_header());
    problem_.buffers.reserve(most_rows());
    std::optional<std::size_t> blank;
    while (const std::optional<std::string_view> line = lines_.take()) {
      if (line->empty()) {
        if (!blank) blank = lines_.number;
        continue;
      }
      if (blank) {
        return refuse(*blank, "", "this line is empty, but more lines follow; only the end may have empty lines");
      }
      LOWTIDE_RETURN_IF_ERROR(parse_row(*line));
    }
    problem_.names.shrink_to_fit();
    return std::move(problem_);
  }

 private:
  // At least the number of rows that follow, unless some of them will be refused. The shortest row is "0,0,1,0".
  std::size_t most_rows() const {
    const auto ends = static_cast<std::size_t>(std::count(lines_.rest.begin(), lines_.rest.end(), '\n'));
    return std::min({ends + 1, lines_.rest.size() / std::string_view("0,0,1,0").size(),
                     static_cast<std::size_t>(kMaxPackingBuffers)});
  }

  Result<void> parse_header() {
    const std::optional<std::string_view> line = lines_.take();
    if (!line || line->empty())
      return refuse(1, "", "there is no header; the first line must name the columns, such as id,lower,upper,size");
    column_at_.fill(std::nullopt);
    split_fields(*line, fields_);
    width_ = fields_.size();
    for (std::size_t at = 0; at < fields_.size(); ++at) {
      const auto* const name = std::find(kNames.begin(), kNames.end(), fields_[at]);
      if (name == kNames.end()) {
        return refuse(1, fields_[at], "this column is unknown; known columns are " + listed(kNames));
      }
      std::optional<std::size_t>& column = column_at_[static_cast<std::size_t>(name - kNames.begin())];
      if (column) return refuse(1, *name, "this column appears twice");
      column = at;
    }
    for (std::size_t column = 0; column < kRequired; ++column) {
      if (!column_at_[column]) return refuse(1, kNames[column], "the header lacks this required column");
    }
    return {};
  }

  Result<void> parse_row(std::string_view line) {
    if (const std::size_t at = line.find('\0'); at != std::string_view::npos) {
      return refuse(lines_.number, "", "there is a zero byte at position " + std::to_string(at + 1));
    }
    if (const std::size_t at = line.find('\r'); at != std::string_view::npos) {
      return refuse(
          lines_.number, "",
          "there is a carriage return at position " + std::to_string(at + 1) + "; lines must end in LF or CRLF");
    }
    if (static_cast<std::int64_t>(problem_.buffers.size()) == kMaxPackingBuffers) {
      return refuse(
          lines_.number, "",
          "there are more than " + std::to_string(kMaxPackingBuffers) + " buffers, the limit (kMaxPackingBuffers)",
          ErrorCode::over_limit);
    }
    split_fields(line, fields_);
    if (fields_.size() != width_) {
      return refuse(
          lines_.number, "",
          "the line has " + with_count(fields_.size(), "field") + ", but the header has " + std::to_string(width_));
    }
    PackingBuffer buffer;
    LOWTIDE_RETURN_IF_ERROR(parse_id());
    LOWTIDE_RETURN_IF_ERROR(parse_extent(buffer));
    LOWTIDE_RETURN_IF_ERROR(parse_alignment(buffer));
    LOWTIDE_RETURN_IF_ERROR(parse_offset(buffer));
    LOWTIDE_RETURN_IF_ERROR(parse_gaps(buffer));
    if (!is_numbered_) problem_.names.push_back(field(kId));
    problem_.buffers.push_back(std::move(buffer));
    return {};
  }

  // Requires: the column exists.
  std::string_view field(Column column) const { return fields_[*column_at_[column]]; }

  Result<std::int64_t> number(Column column) const {
    const std::optional<std::int64_t> parsed = parse_number(field(column));
    if (parsed) return *parsed;
    return refuse(
        lines_.number, kNames[column],
        quoted(field(column)) + " is not a whole number from 0 to 9223372036854775807; write it in decimal digits");
  }

  Result<void> parse_id() {
    const std::string_view id = field(kId);
    if (id.empty()) return refuse(lines_.number, kNames[kId], "the id is empty");
    if (static_cast<std::int64_t>(id.size()) > limits::kMaxNameBytes) {
      return refuse(lines_.number, kNames[kId],
                    "the id has " + std::to_string(id.size()) + " bytes; the limit is " +
                        std::to_string(limits::kMaxNameBytes) + " (kMaxNameBytes)",
                    ErrorCode::over_limit);
    }
    const std::optional<std::size_t> line = line_of(id);
    if (!line) return {};
    return refuse(lines_.number, kNames[kId], quoted(id) + " is also the id of line " + std::to_string(*line),
                  ErrorCode::invalid);
  }

  // Returns the line of an earlier row with this id. Otherwise keeps the id and returns nullopt. Ids are not kept while
  // they are 0, 1, 2, ..., because finding ids takes more memory than the buffers.
  std::optional<std::size_t> line_of(std::string_view id) {
    const std::size_t row = problem_.buffers.size();
    if (is_numbered_ && id == std::to_string(row)) return std::nullopt;
    if (is_numbered_) {
      is_numbered_ = false;
      numbered_ = row;
      for (std::size_t at = 0; at < row; ++at) problem_.names.push_back(std::to_string(at));
    }
    const std::optional<std::int64_t> number = parse_number(id);
    if (number && static_cast<std::uint64_t>(*number) < numbered_ && id == std::to_string(*number)) {
      return static_cast<std::size_t>(*number) + kFirstRow;
    }
    const auto [first, is_new] = line_of_id_.try_emplace(id, lines_.number);
    return is_new ? std::nullopt : std::optional(first->second);
  }

  Result<void> parse_extent(PackingBuffer& buffer) {
    LOWTIDE_TRY(const std::int64_t lower, number(kLower));
    LOWTIDE_TRY(const std::int64_t upper, number(kUpper));
    if (lower >= upper) {
      return refuse(lines_.number, kNames[kUpper],
                    "upper " + std::to_string(upper) + " is not above lower " + std::to_string(lower) +
                        "; a buffer lives in [lower, upper)",
                    ErrorCode::invalid);
    }
    LOWTIDE_TRY(const std::int64_t size, number(kSize));
    const std::optional<std::int64_t> total = checked_add(total_bytes_, size);
    if (!total || *total > limits::kMaxTotalBytes) {
      return refuse(lines_.number, kNames[kSize],
                    "the sizes up to this line add up to more than " + std::to_string(limits::kMaxTotalBytes) +
                        " bytes, the limit (kMaxTotalBytes)",
                    ErrorCode::over_limit);
    }
    total_bytes_ = *total;
    buffer.lifespan = {lower, upper};
    buffer.size = Bytes(size);
    return {};
  }

  Result<void> parse_alignment(PackingBuffer& buffer) const {
    if (!column_at_[kAlignment] || field(kAlignment).empty()) return {};
    LOWTIDE_TRY(const std::int64_t alignment, number(kAlignment));
    if (!is_power_of_two(alignment) || alignment > limits::kMaxAlignment) {
      return refuse(lines_.number, kNames[kAlignment],
                    std::to_string(alignment) + " is not a power of two of at most " +
                        std::to_string(limits::kMaxAlignment) + " (kMaxAlignment)",
                    ErrorCode::invalid);
    }
    buffer.alignment = Bytes(alignment);
    return {};
  }

  Result<void> parse_offset(PackingBuffer& buffer) const {
    if (!column_at_[kOffset] || field(kOffset).empty()) return {};
    LOWTIDE_TRY(const std::int64_t offset, number(kOffset));
    const std::optional<std::int64_t> end = checked_add(offset, buffer.size.count());
    if (!end || *end > limits::kMaxTotalBytes) {
      return refuse(
          lines_.number, kNames[kOffset],
          "the buffer would end above the limit of " + std::to_string(limits::kMaxTotalBytes) + " (kMaxTotalBytes)",
          ErrorCode::over_limit);
    }
    if (offset % buffer.alignment.count() != 0) {
      return refuse(lines_.number, kNames[kOffset],
                    "offset " + std::to_string(offset) + " is not a multiple of the alignment " +
                        std::to_string(buffer.alignment.count()),
                    ErrorCode::invalid);
    }
    buffer.fixed_offset = Offset(offset);
    return {};
  }

  Result<void> parse_gaps(PackingBuffer& buffer) {
    if (!column_at_[kGaps] || field(kGaps).empty()) return {};
    const auto wrong = [&](const std::string& message, ErrorCode code) {
      return refuse(lines_.number, kNames[kGaps], message, code);
    };
    split(field(kGaps), ' ', gaps_);
    for (std::string_view gap : gaps_) {
      if (gap.find('@') != std::string_view::npos) {
        return wrong(
            quoted(gap) +
                " keeps a part of the buffer live (a window), which is not supported; use gaps of the whole buffer",
            ErrorCode::unsupported);
      }
      const std::size_t dash = gap.find('-');
      const auto begin = parse_number(gap.substr(0, dash));
      const auto end = dash == std::string_view::npos ? std::nullopt : parse_number(gap.substr(dash + 1));
      if (!begin || !end) return wrong(quoted(gap) + " is not a gap; write a gap like 4-6", ErrorCode::malformed);
      const TimeSpan span = {*begin, *end};
      if (span.empty() || !buffer.lifespan.contains(span)) {
        return wrong(quoted(gap) + (span.empty() ? " is empty" : " is outside the lifespan of the buffer") +
                         "; a gap must be a part of " + std::to_string(buffer.lifespan.begin) + "-" +
                         std::to_string(buffer.lifespan.end),
                     ErrorCode::invalid);
      }
      buffer.gaps.push_back(span);
    }
    std::sort(buffer.gaps.begin(), buffer.gaps.end());
    for (std::size_t at = 1; at < buffer.gaps.size(); ++at) {
      if (buffer.gaps[at - 1].overlaps(buffer.gaps[at])) {
        return wrong("two gaps overlap at " + std::to_string(buffer.gaps[at].begin), ErrorCode::invalid);
      }
    }
    return {};
  }

  Lines lines_;
  std::array<std::optional<std::size_t>, kColumns> column_at_;
  std::size_t width_ = 0;
  std::vector<std::string_view> fields_;
  std::vector<std::string_view> gaps_;
  bool is_numbered_ = true;                                       // whether each id so far is the number of its row
  std::size_t numbered_ = 0;                                      // number of rows before the first other id
  std::unordered_map<std::string_view, std::size_t> line_of_id_;  // from that id on; views of the text
  std::int64_t total_bytes_ = 0;
  PackingProblem problem_;
};

}  // namespace

Result<PackingProblem> parse_packing(std::string_view text) {
  // Some programs write a byte order mark before UTF-8.
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  return Parser(text).parse();
}

}  // namespace lowtide
