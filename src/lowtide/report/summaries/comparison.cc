// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/comparison.h"

#include <array>
#include <cstdio>
#include <utility>

#include "lowtide/report/text/figures.h"

namespace lowtide {
namespace {

using Align = TextTable::Align;
using report_internal::exact;

std::string times(Bytes bytes, Bytes arena) {
  if (arena == Bytes(0)) return bytes == arena ? "1.00x" : "-";
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2fx",
                static_cast<double>(bytes.count()) / static_cast<double>(arena.count()));
  return text.data();
}

void add_line(TextTable& table, const ComparisonLine& line, Bytes arena) {
  if (line.refusal) {
    table.add_row({StyledText(line.name), StyledText("-"), {}, {}, {}, {}, {}, StyledText(*line.refusal, Style::dim)});
    return;
  }
  const bool is_below = line.bytes < arena;
  std::string best = line.best ? exact(*line.best) : "-";
  if (line.is_best) best = "the same";
  table.add_row({StyledText(line.name), StyledText(exact(line.bytes)),
                 StyledText(times(line.bytes, arena), is_below ? Style::bad : Style::plain),
                 StyledText(with_thousands(line.shared_buffers)), StyledText(with_thousands(line.reused)),
                 StyledText(line.blobs_left ? with_thousands(*line.blobs_left) : "-"), StyledText(best),
                 StyledText(line.run_order, Style::dim)});
}

// A difference between two sizes: "+1,024 B".
std::string added(Bytes from, Bytes to) { return to < from ? "-" + exact(from - to) : "+" + exact(to - from); }

void add_runtime(TextTable& table, const RuntimeComparison& runtime, Bytes arena) {
  if (runtime.refusal) {
    table.add_row(
        {StyledText("onnxruntime"), StyledText("-"), {}, {}, {}, {}, {}, StyledText(*runtime.refusal, Style::dim)});
    return;
  }
  const Bytes bytes = runtime.lines.front().second_run;
  table.add_row({StyledText("onnxruntime"),
                 StyledText(exact(bytes)),
                 StyledText(times(bytes, arena), bytes < arena ? Style::bad : Style::plain),
                 {},
                 {},
                 {},
                 {},
                 StyledText("sequence, predicted", Style::dim)});
}

StyledText runtime_reasons(const RuntimeComparison& runtime, Bytes arena) {
  const RuntimeLine& standard = runtime.lines.front();
  TextTable table({Align::right, Align::left});
  const auto add = [&](const std::string& bytes, const std::string& reason) {
    table.add_row({StyledText(bytes), StyledText(reason)});
  };
  add(exact(arena), "Lowtide's arena");
  add(added(arena, runtime.in_its_order), "another order of the nodes");
  add(added(runtime.in_its_order, runtime.live),
      std::string("other rules for sharing") +
          (runtime.has_load_time_nodes ? ", and nodes that Lowtide runs when it loads the model: " : ": ") +
          exact(runtime.live) + " are live at once" +
          (runtime.peak_node.op.empty() ? "" : " at " + report_internal::node_text(runtime.peak_node, "")) +
          (runtime.scratch == Bytes(0) ? "" : ", " + exact(runtime.scratch) + " of them scratch"));
  add(added(runtime.live, standard.first_run), "the sizes of the arena's segments");
  add(added(standard.first_run, standard.second_run),
      "the memory pattern: from the second run on, one block of " + exact(runtime.pattern));
  add(exact(standard.second_run), "ONNX Runtime after two runs");
  StyledText out("Where the bytes of ONNX Runtime come from", Style::heading);
  return out.end_line().append(table.text());
}

std::string options_text(const RuntimeLine& line) {
  std::string text = line.has_arena ? line.extend_strategy : "enable_cpu_mem_arena = false";
  if (!line.has_pattern) text += ", enable_mem_pattern = false";
  return text;
}

StyledText runtime_options(const RuntimeComparison& runtime) {
  TextTable table({Align::left, Align::right, Align::right});
  table.add_row({StyledText("session options", Style::dim), StyledText("after one run", Style::dim),
                 StyledText("after two runs", Style::dim)});
  for (const RuntimeLine& line : runtime.lines) {
    table.add_row(
        {StyledText(options_text(line)), StyledText(exact(line.first_run)), StyledText(exact(line.second_run))});
  }
  StyledText out("What its options change", Style::heading);
  out.end_line().append(table.text());
  constexpr std::string_view kNote =
      "An arena keeps these bytes. Without one, they are the most in use at any time. The session runs the nodes of "
      "this file as they are, on one thread, and learns open extents from its inputs. By default, a session optimizes "
      "a file first. Let it save the result with optimized_model_filepath, and compare that.";
  return out.append(report_internal::paragraph(std::string(kNote)));
}

StyledText verdict(const Comparison& comparison) {
  StyledText out;
  std::string below;
  for (const ComparisonLine& line : comparison.lines) {
    if (!line.refusal && line.bytes < comparison.arena) below += (below.empty() ? "" : ", ") + line.name;
  }
  const RuntimeComparison& runtime = comparison.onnxruntime;
  if (!runtime.refusal && runtime.lines.front().second_run < comparison.arena) {
    below += below.empty() ? "onnxruntime" : ", onnxruntime";
  }
  if (below.empty()) {
    out.add("  No other planner needs less than Lowtide.", Style::good).end_line();
  } else {
    out.add("  These need less than Lowtide: " + below, Style::bad).end_line();
  }
  for (const ComparisonLine& line : comparison.lines) {
    if (!line.original_failure) continue;
    out.append(report_internal::paragraph(line.name + " would not work here: " + *line.original_failure +
                                          ". Its figures are those of a rule without this fault."));
  }
  out.add("  All results are verified, except the prediction for ONNX Runtime.", Style::good).end_line();
  if (comparison.uncounted.empty()) return out;
  return out.append(report_internal::paragraph(report_internal::uncounted_text(comparison.uncounted),
                                               StyledText("Not proven: ", Style::bad)));
}

}  // namespace

StyledText comparison_summary(const ModelFacts& model, const Comparison& comparison) {
  StyledText out(shown_name(model.path), Style::heading);
  out.add("  " + counted(model.nodes, "node") + ", " + counted(model.tensors, "tensor"));
  out.add("  " + model.format + ", sha256 " + model.sha256.substr(0, 12), Style::dim).end_line().end_line();
  TextTable table(
      {Align::left, Align::right, Align::right, Align::right, Align::right, Align::right, Align::right, Align::left});
  table.add_row({StyledText("planner", Style::dim), StyledText("bytes", Style::dim),
                 StyledText("of Lowtide", Style::dim), StyledText("shared", Style::dim),
                 StyledText("reused", Style::dim), StyledText("left", Style::dim),
                 StyledText("best by its rule", Style::dim), StyledText("runs in", Style::dim)});
  table.add_row({StyledText("lowtide", Style::strong), StyledText(exact(comparison.arena), Style::strong),
                 StyledText("1.00x"), StyledText("1"), StyledText("-"), StyledText("-"),
                 comparison.is_proven ? StyledText("proven optimal", Style::good)
                                      : StyledText("bound " + exact(comparison.bound)),
                 StyledText("sequence", Style::dim)});
  add_runtime(table, comparison.onnxruntime, comparison.arena);
  bool has_heading = false;
  for (const ComparisonLine& line : comparison.lines) {
    if (line.is_discontinued && !std::exchange(has_heading, true)) {
      table.add_row({StyledText("discontinued", Style::dim), {}, {}, {}, {}, {}, {}, {}});
    }
    add_line(table, line, comparison.arena);
  }
  out.append(table.text()).end_line();
  out.append(verdict(comparison));
  if (comparison.onnxruntime.refusal) return out;
  out.end_line().append(runtime_reasons(comparison.onnxruntime, comparison.arena));
  return out.end_line().append(runtime_options(comparison.onnxruntime));
}

}  // namespace lowtide
