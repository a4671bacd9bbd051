// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/text/streams_text.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <tuple>

#include "lowtide/report/text/figures.h"

namespace lowtide::report_internal {
namespace {

std::string decimal(double number, const char* unit) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.2f%s", number, unit);
  return text.data();
}

std::string speed_text(const TradeOff& one, const TradeOff& other) {
  if (other.picoseconds == 0) return "1.00x";
  return decimal(static_cast<double>(one.picoseconds) / static_cast<double>(other.picoseconds), "x");
}

// "+7.1 %", "+0.0 %", "-1.2 %": the arena compared with that of one stream.
std::string extra_text(const TradeOff& one, const TradeOff& other) {
  const std::int64_t more = (other.arena - one.arena).count();
  return (more < 0 ? "-" : "+") + percent(more < 0 ? -more : more, one.arena.count());
}

const TradeOff& chosen(const std::vector<TradeOff>& points) {
  return *std::find_if(points.begin(), points.end(), [](const TradeOff& one) { return one.is_chosen; });
}

std::string name_of(const TradeOff& plan) {
  if (plan.run == ExecutionModel::waves) return "Waves of " + std::to_string(plan.streams);
  if (plan.run == ExecutionModel::dataflow) return "Dataflow";
  return std::to_string(plan.streams) + " streams";
}

// How the steps are synchronized.
std::string order_text(const TradeOff& plan) {
  if (plan.run == ExecutionModel::waves) return counted(plan.waves, "wave");
  if (plan.run == ExecutionModel::dataflow) return counted(plan.streams, "chain") + ", " + counted(plan.waits, "wait");
  return counted(plan.waits, "wait");
}

}  // namespace

std::string time_text(std::int64_t picoseconds) {
  const auto number = static_cast<double>(picoseconds);
  if (number < 1e9) return decimal(number / 1e6, " us");
  return number < 1e12 ? decimal(number / 1e9, " ms") : decimal(number / 1e12, " s");
}

StyledText streams_line(const std::vector<TradeOff>& points) {
  StyledText out;
  if (points.empty()) return out;
  const TradeOff& one = points.front();
  const TradeOff& plan = chosen(points);
  const std::string tolerated = " at most " + std::to_string(kTimeTolerancePercent) + " % faster.";
  if (plan.run == ExecutionModel::sequence) {
    return out.add("  One stream: within the memory limit, several streams are" + tolerated).end_line();
  }
  out.add("  " + name_of(plan), Style::strong);
  out.add(": estimated " + time_text(plan.picoseconds) + ", on one stream " + time_text(one.picoseconds) + " (" +
          speed_text(one, plan) + "); " + order_text(plan) + "; arena " + extra_text(one, plan) + ".");
  out.end_line();
  if (plan.run != ExecutionModel::dataflow)
    out.add("  Chosen for its arena: within the memory limit, other plans are" + tolerated).end_line();
  return out;
}

StyledText trade_offs_text(const std::vector<TradeOff>& points) {
  StyledText out;
  if (points.empty()) return out;
  const TradeOff& one = points.front();
  std::vector<const TradeOff*> shown;
  for (const TradeOff& point : points) {
    if (point.is_pareto_optimal || point.is_chosen) shown.push_back(&point);
  }
  std::stable_sort(shown.begin(), shown.end(), [](const TradeOff* a, const TradeOff* b) {
    return std::tuple(a->run, a->arena, -a->picoseconds) < std::tuple(b->run, b->arena, -b->picoseconds);
  });
  out.end_line().add("Memory against estimated time", Style::heading).end_line();
  using Align = TextTable::Align;
  TextTable table(
      {Align::left, Align::right, Align::right, Align::right, Align::right, Align::right, Align::right, Align::left});
  std::vector<StyledText> head;
  for (const char* title : {"run", "arena", "more", "time", "speed", "streams", "waits", ""}) {
    head.emplace_back(title, Style::dim);
  }
  table.add_row(head);
  for (const TradeOff* point : shown) {
    table.add_row({StyledText(std::string(to_string(point->run))), StyledText(exact(point->arena)),
                   StyledText(extra_text(one, *point)), StyledText(time_text(point->picoseconds)),
                   StyledText(speed_text(one, *point)), StyledText(std::to_string(point->streams)),
                   StyledText(with_thousands(point->waits)),
                   point->is_chosen ? StyledText("this plan", Style::strong) : StyledText("")});
  }
  out.append(table.text());
  const std::size_t beaten = points.size() - shown.size();
  if (beaten > 0) {
    out.add("  " + counted(static_cast<std::int64_t>(beaten), "more plan") + " tried, each no better than one of these",
            Style::dim);
    out.end_line();
  }
  return out;
}

}  // namespace lowtide::report_internal
