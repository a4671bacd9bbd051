// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string_view>

namespace lowtide::report_internal {

// The style of pages without scripts. Colors are as in page/page.css, with a contrast of at least 4.5 for text.
inline constexpr std::string_view kPlainStyle = R"(<style>
:root { color-scheme: light dark; --ground: #eef1f5; --panel: #fff; --text: #1b2430; --muted: #566170;
  --line: #d8dee6; --grid: #e9edf1; --good: #0b6b50; --bad: #b3261e; --given: #566170; --theirs: #a8480a;
  --own: #0b62c4; --memory: #b0205e; --bound: #0e7a5c; }
@media (prefers-color-scheme: dark) { :root { --ground: #0b0f14; --panel: #151b23; --text: #e2e8f0; --muted: #9aa6b5;
  --line: #2a333f; --grid: #1d2530; --good: #4fcf9f; --bad: #ff8d85; --given: #9aa6b5; --theirs: #f2a15f;
  --own: #6cb1ff; --memory: #ff85b3; --bound: #4fcf9f; } }
body { margin: 0; background: var(--ground); color: var(--text);
  font: 14px/1.45 system-ui, "Segoe UI", Roboto, "Helvetica Neue", "DejaVu Sans", sans-serif;
  font-variant-numeric: tabular-nums; }
main { max-width: 960px; margin: 0 auto; padding: 20px 16px 40px; }
h1 { font-size: 20px; margin: 0 0 2px; overflow-wrap: anywhere; } h2 { font-size: 15px; margin: 0 0 8px; }
p { margin: 0 0 8px; color: var(--muted); }
section { background: var(--panel); border: 1px solid var(--line); border-radius: 8px; padding: 14px; margin: 14px 0; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: 5px 10px 5px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td.number, th.number { text-align: right; white-space: nowrap; } th { font-weight: 600; color: var(--muted); }
svg { width: 100%; height: auto; display: block; } svg text { fill: var(--muted); font-size: 11px; }
svg.narrow { display: none; }
@media screen and (max-width: 640px) { svg.wide { display: none; } svg.narrow { display: block; } }
.axis { fill: none; stroke: var(--muted); } .cross { fill: none; stroke: var(--bad); stroke-width: 2; }
.grid { stroke: var(--grid); } .line { fill: none; stroke-width: 1.6; }
.line.given { stroke: var(--given); } .line.theirs { stroke: var(--theirs); } .line.own { stroke: var(--own); }
.line.memory { stroke: var(--memory); stroke-dasharray: 6 4; }
.line.bound { stroke: var(--bound); stroke-dasharray: 2 3; }
circle.run { fill: none; stroke-width: 2; pointer-events: all; } circle.run.given { stroke: var(--given); }
circle.run.theirs { stroke: var(--theirs); } circle.run.own { stroke: var(--own); }
circle.found { fill: var(--panel); stroke: var(--own); stroke-width: 2; } circle.knee { stroke: var(--theirs); }
circle.proven { fill: var(--own); stroke: var(--own); } circle.knee.proven { fill: var(--theirs); }
.break { stroke: var(--muted); stroke-width: 1.4; fill: none; }
tr.knee { font-weight: 600; } tr:target { outline: 2px solid var(--own); }
code { overflow-wrap: anywhere; color: var(--muted); } .whole { white-space: nowrap; }
.scroll + p { margin-top: 8px; }
.verdict { min-width: 26em; } .run-verdict { min-width: 16em; }
.key { font-weight: 600; } .key.given { color: var(--given); } .key.theirs { color: var(--theirs); }
.key.own { color: var(--own); } .key.memory { color: var(--memory); } .key.bound { color: var(--bound); }
.key.none { color: var(--bad); }
.good { color: var(--good); } .bad { color: var(--bad); }
</style>
)";

}  // namespace lowtide::report_internal
