// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Several streams: when their steps run, by the estimated times, and a lane for each stream with its waits.

const kLaneHeight = 16;
const kMostLanes = 8;
const kMostWaits = 600; // lines drawn at once
const kMostLate = 0.01; // of the whole time: above it, steps are not listed in the order in which they begin

// When each step begins and ends if it starts as soon as its stream is free and the steps that it waits for have ended.
// `positions` are those of the time axis: a step of the list is never before an earlier one. null for one stream, or if
// no times are known.
function timingOf(sheet) {
  if (sheet.stepPicoseconds === null || sheet.stepCount === 0) return null;
  if (sheet.timing) return sheet.timing;
  const begin = new Float64Array(sheet.stepCount);
  const end = new Float64Array(sheet.stepCount);
  const freeAt = new Float64Array(sheet.streams.length || Math.max(...sheet.stepStream) + 1);
  for (let step = 0; step < sheet.stepCount; ++step) {
    const stream = sheet.stepStream[step];
    begin[step] = sheet.waitsOf(step).reduce((latest, other) => Math.max(latest, end[other]), freeAt[stream]);
    end[step] = freeAt[stream] = begin[step] + sheet.stepPicoseconds[step];
  }
  const total = end.reduce((most, at) => Math.max(most, at), 1);
  const least = total * 1e-7; // so that every step has a place of its own
  const positions = new Float64Array(sheet.stepCount + 1);
  let late = 0; // how far steps are drawn after they begin, on average
  for (let step = 1; step < sheet.stepCount; ++step) {
    positions[step] = Math.max(positions[step - 1] + least, begin[step]);
    late += (positions[step] - begin[step]) / sheet.stepCount;
  }
  positions[sheet.stepCount] = Math.max(positions[sheet.stepCount - 1] + least, total);
  sheet.timing = {begin, end, positions, total, isInOrder: late <= kMostLate * total};
  return sheet.timing;
}

// The number of streams that have a lane.
function lanesOf(sheet) {
  return sheet.stepStream === null ? 0 : Math.min(kMostLanes, sheet.streamCount);
}

// Where a step is in its lane: [left, right] as positions.
function laneSpan(sheet, step) {
  const timing = sheet.axis.kind === 'time' ? timingOf(sheet) : null;
  return timing === null ? [sheet.axis.at(step), sheet.axis.at(step + 1)] : [timing.begin[step], timing.end[step]];
}

function laneY({layout: {lanes}}, stream) {
  return lanes.y + stream * kLaneHeight;
}

// The share of the time in which a stream runs steps.
function busyShare(sheet, stream) {
  const timing = timingOf(sheet);
  if (timing === null) return null;
  let busy = 0;
  for (let step = 0; step < sheet.stepCount; ++step) {
    if (sheet.stepStream[step] === stream) busy += timing.end[step] - timing.begin[step];
  }
  return busy / timing.total;
}

// The stream in a few letters, for the margin of its lane.
function laneName(sheet, stream) {
  const ends = sheet.streams[stream] ?? null;
  if (ends === null) return `stream ${stream}`;
  const [, to] = ends;
  return `to ${to.length > 9 ? `${to.slice(0, 8)}…` : to}`;
}

function drawLanes(chart, context) {
  const {
    sheet,
    ink,
    layout: {lanes, left},
  } = chart;
  if (lanes.h === 0) return;
  context.font = kFont;
  for (let stream = 0; stream < lanesOf(sheet); ++stream) {
    const y = laneY(chart, stream);
    context.fillStyle = ink.stripFill;
    context.fillRect(lanes.x, y, lanes.w, kLaneHeight - 2);
    drawText(context, laneName(sheet, stream), left - 8, y + kLaneHeight / 2 - 1, ink.muted, 'right');
  }
  context.save();
  context.beginPath();
  context.rect(lanes.x, lanes.y, lanes.w, lanes.h);
  context.clip();
  const steps = drawLaneSteps(chart, context);
  drawWaits(chart, context, steps);
  context.restore();
}

function drawLaneSteps(chart, context) {
  const {sheet, view, layout, ink} = chart;
  const inSight = [];
  const xOf = (position) => layout.map.x + (position - view.x0) * chart.scaleX;
  for (let step = 0; step < sheet.stepCount; ++step) {
    const [begin, end] = laneSpan(sheet, step);
    if (end < view.x0 || begin > view.x1 || sheet.stepStream[step] >= lanesOf(sheet)) continue;
    inSight.push(step);
    const [x0, x1] = [xOf(begin), xOf(end)];
    context.fillStyle = step === activeStep() ? ink.peak : ink.load;
    context.fillRect(x0, laneY(chart, sheet.stepStream[step]) + 1, Math.max(0.6, x1 - x0 - 0.6), kLaneHeight - 4);
    if (x1 - x0 < 44) continue;
    const text = sheet.opOfStep(step);
    context.font = kFont;
    if (context.measureText(text).width > x1 - x0 - 6) continue;
    drawText(context, text, x0 + 4, laneY(chart, sheet.stepStream[step]) + kLaneHeight / 2 - 1, ink.onFill);
  }
  return inSight;
}

// A line from the end of a step to the step of another stream that waits for it.
function drawWaits(chart, context, steps) {
  const {sheet, view, layout, ink} = chart;
  const xOf = (position) => layout.map.x + (position - view.x0) * chart.scaleX;
  const waits = steps.flatMap((step) => sheet.waitsOf(step).map((other) => [other, step]));
  if (waits.length > kMostWaits) return;
  context.strokeStyle = ink.arena;
  context.lineWidth = 1;
  context.beginPath();
  for (const [other, step] of waits) {
    const from = laneY(chart, sheet.stepStream[other]) + kLaneHeight / 2 - 1;
    const to = laneY(chart, sheet.stepStream[step]) + kLaneHeight / 2 - 1;
    context.moveTo(xOf(laneSpan(sheet, other)[1]) - 1, from);
    context.lineTo(xOf(laneSpan(sheet, step)[0]) + 1, to);
  }
  context.stroke();
}

// The step under a point of the lanes; null if there is none.
function laneStepAt(chart, x, y) {
  const {sheet, layout, view} = chart;
  const stream = Math.floor((y - layout.lanes.y) / kLaneHeight);
  const position = view.x0 + (x - layout.map.x) / chart.scaleX;
  for (let step = 0; step < sheet.stepCount; ++step) {
    const [begin, end] = laneSpan(sheet, step);
    if (sheet.stepStream[step] === stream && begin <= position && position < end) return step;
  }
  return null;
}

function laneTooltip(sheet, step) {
  const timing = timingOf(sheet);
  const waits = sheet.waitsOf(step);
  return [
    `step ${countText(step)}`,
    elide(sheet.stepText(step), 60),
    timing === null
      ? null
      : `${durationText(Math.max(1, timing.begin[step]))} to ${durationText(timing.end[step])}, estimated`,
    waits.length === 0 ? null : `waits for step ${waits.map(countText).join(', ')}`,
  ].filter(Boolean);
}
