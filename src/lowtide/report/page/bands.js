// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Bands above the map: times that belong together, such as a forward pass. The upper row has what happens first, and
// the lower one what happens again. Each name has one colour.

const kBandHeight = {first: 13, again: 8};
const kBandGap = 3; // pixels between both rows
const kMostPhase = 40; // letters of a name
const kBandReach = 2; // pixels from the pointer to a band that is too thin to hit

// The columns of a sheet's bands, and what is known of each name: {begin, end, first, again}, the first time and the
// last one of what happens first, and how long it and what happens again take together. null without bands.
function readBands(columns) {
  if (columns === undefined) return null;
  const bands = {
    names: columns.names,
    name: Int32Array.from(columns.name),
    begin: Float64Array.from(columns.begin),
    end: Float64Array.from(columns.end),
    again: Uint8Array.from(columns.again),
  };
  bands.totals = bands.names.map(() => ({begin: Infinity, end: 0, first: 0, again: 0}));
  bands.name.forEach((name, at) => {
    const total = bands.totals[name];
    const [begin, end] = [bands.begin[at], bands.end[at]];
    total[bands.again[at] === 1 ? 'again' : 'first'] += end - begin;
    if (bands.again[at] === 1) return;
    total.begin = Math.min(total.begin, begin);
    total.end = Math.max(total.end, end);
  });
  return bands;
}

// The rows that a sheet needs: 'first', and 'again' if anything happens again.
function bandRows({bands}) {
  if (!bands) return [];
  return bands.again.includes(1) ? ['first', 'again'] : ['first'];
}

// The height of all rows together.
function heightOfBands(sheet) {
  const rows = bandRows(sheet);
  return rows.reduce((sum, row) => sum + kBandHeight[row], 0) + kBandGap * Math.max(0, rows.length - 1);
}

// Where a row is in the picture: {x, y, w, h}.
function rowArea({layout: {bands}}, row) {
  const y = row === 'first' ? bands.y : bands.y + kBandHeight.first + kBandGap;
  return {x: bands.x, y, w: bands.w, h: kBandHeight[row]};
}

// Css names of colours. Names behind the first ones share the last colour.
const kBandColours = [...Array.from({length: kHueCount}, (_, at) => `hue-${at}`), 'hue-other'];

function bandColour(name) {
  return kBandColours[Math.min(name, kHueCount)];
}

// The names in the legend, each once: [{text, color, name}, ...]. The last entry stands for all that share its colour.
function bandClasses({bands}) {
  if (!bands) return [];
  const named = bands.names.slice(0, kHueCount);
  const classes = named.map((text, name) => ({text: elide(text, kMostPhase), color: bandColour(name), name}));
  const others = bands.names.length - classes.length;
  if (others > 0) classes.push({text: plural(others, 'other phase'), color: bandColour(kHueCount), name: kNone});
  return classes;
}

// The first band that ends after a time.
function bandAfter({end}, time) {
  let [low, high] = [0, end.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (end[middle] <= time) low = middle + 1;
    else high = middle;
  }
  return low;
}

// The band that contains a time; kNone if there is none.
function bandAt({bands}, time) {
  if (!bands) return kNone;
  const at = bandAfter(bands, time);
  return at < bands.end.length && bands.begin[at] <= time ? at : kNone;
}

// "forward", or "forward again".
function bandText({bands}, at) {
  return at === kNone ? '' : `${bands.names[bands.name[at]]}${bands.again[at] === 1 ? ' again' : ''}`;
}

// The name that covers most of each pixel of a row, or kNone. Linear in pixels and in the bands in sight.
function bandPixels(chart, row) {
  const {sheet, view} = chart;
  const {bands} = sheet;
  const area = rowArea(chart, row);
  const names = new Int32Array(Math.ceil(area.w)).fill(kNone);
  const shares = new Map(); // of the pixel `shared`, by name
  let shared = kNone;
  const finish = () => {
    let most = 0;
    for (const [name, share] of shares) {
      if (share > most) [names[shared], most] = [name, share];
    }
    shares.clear();
  };
  const isAgain = row === 'again' ? 1 : 0;
  for (let at = bandAfter(bands, view.x0); at < bands.end.length && bands.begin[at] < view.x1; ++at) {
    if (bands.again[at] !== isAgain) continue;
    const from = Math.max(0, chart.xOf(bands.begin[at]) - area.x);
    const to = Math.min(names.length, chart.xOf(bands.end[at]) - area.x);
    for (let pixel = Math.floor(from); pixel < to; ++pixel) {
      if (pixel !== shared) {
        finish();
        shared = pixel;
      }
      const share = Math.min(to, pixel + 1) - Math.max(from, pixel);
      shares.set(bands.name[at], (shares.get(bands.name[at]) ?? 0) + share);
    }
  }
  finish();
  return names;
}

// The boxes of a row, at most one per pixel: [{name, x, y, w, h}, ...].
function bandBoxes(chart, row) {
  const {x, y, w, h} = rowArea(chart, row);
  const names = bandPixels(chart, row);
  const boxes = [];
  for (let begin = 0; begin < names.length;) {
    let end = begin + 1;
    while (end < names.length && names[end] === names[begin]) ++end;
    if (names[begin] !== kNone) boxes.push({name: names[begin], x: x + begin, y, w: Math.min(end, w) - begin, h});
    begin = end;
  }
  return boxes;
}

// The name of a band, as far as there is space for all of it.
function bandLabel(chart, {name, w, h}) {
  const text = chart.sheet.bands.names[name];
  return h >= kBandHeight.first && chart.widthOf(text) <= w - 8 ? text : '';
}

function cssOfBand({bandInk}, name) {
  return bandInk[Math.min(name, kHueCount)];
}

function drawBands(chart, context) {
  const {sheet, layout, ink} = chart;
  context.font = kFont;
  for (const row of bandRows(sheet)) {
    const area = rowArea(chart, row);
    context.fillStyle = ink.stripFill;
    context.fillRect(area.x, area.y, area.w, area.h);
    drawText(context, rowText(row), layout.left - 8, area.y + area.h / 2, ink.muted, 'right');
    for (const box of bandBoxes(chart, row)) {
      context.fillStyle = cssOfBand(chart, box.name);
      context.fillRect(box.x, box.y, box.w, box.h);
      const label = bandLabel(chart, box);
      if (label !== '') drawText(context, label, box.x + 5, box.y + box.h / 2 + 0.5, ink.onFill);
    }
  }
}

function rowText(row) {
  return row === 'first' ? 'phase' : 'again';
}

function svgBands(chart) {
  const {sheet, layout, ink} = chart;
  return bandRows(sheet).flatMap((row) => {
    const area = rowArea(chart, row);
    return [
      svgRect(area, ink.stripFill),
      svgText(layout.left - 8, area.y + area.h / 2 + 4, rowText(row), ink.muted, {align: 'end'}),
      ...bandBoxes(chart, row).flatMap((box) => {
        const label = bandLabel(chart, box);
        const rect = svgRect(box, cssOfBand(chart, box.name));
        return label === '' ? [rect] : [rect, svgText(box.x + 5, box.y + box.h / 2 + 4, label, ink.onFill)];
      }),
    ];
  });
}

// The band under a point: that of the row at this time, or the nearest one of the row within a few pixels.
function bandUnder(chart, x, y) {
  const {sheet} = chart;
  const {bands} = sheet;
  const rows = bandRows(sheet);
  const row = rows.find((one) => y < rowArea(chart, one).y + rowArea(chart, one).h) ?? rows.at(-1);
  const isAgain = row === 'again' ? 1 : 0;
  const reach = kBandReach / chart.scaleX;
  const time = chart.stepAt(x);
  let best = kNone;
  let least = reach;
  for (let at = bandAfter(bands, time - reach); at < bands.end.length && bands.begin[at] <= time + reach; ++at) {
    const away = Math.max(0, bands.begin[at] - time, time - bands.end[at]);
    if (bands.again[at] === isAgain && (best === kNone || away < least)) [best, least] = [at, away];
  }
  return best;
}

// Times of one name: "312 long in all, and 58 again".
function bandSums({bands}, name) {
  const {first, again} = bands.totals[name];
  return `${countText(first)} long in all${again > 0 ? `, and ${countText(again)} again` : ''}`;
}

function bandTooltip(sheet, at) {
  if (at === kNone) return [];
  const {bands} = sheet;
  const name = bands.names[bands.name[at]];
  return [
    elide(bandText(sheet, at), 60),
    `${sheet.spanText(bands.begin[at], bands.end[at])}, ${countText(bands.end[at] - bands.begin[at])} long`,
    `${elide(name, kMostPhase)}: ${bandSums(sheet, bands.name[at])}`,
  ];
}

// Shows the times of all bands of a name that happen first, or of one that only happens again.
function showBands(sheet, name) {
  const {bands} = sheet;
  const {begin, end} = bands.totals[name];
  const first = bands.name.indexOf(name);
  const last = bands.name.lastIndexOf(name);
  const [from, to] = begin < end ? [begin, end] : [bands.begin[first], bands.end[last]];
  view.setBox(sheet.axis.at(from), sheet.axis.at(to), view.y0, view.y1);
  redraw();
  announce(`${bands.names[name]}, ${sheet.spanText(from, to)}, ${bandSums(sheet, name)}`);
}

// The names of the bands with their colours. A click shows their times.
function bandLegend(sheet) {
  if (!sheet.bands) return null;
  const items = bandClasses(sheet).map(({text, color, name}) => {
    const swatch = make('span', {class: 'swatch', 'aria-hidden': 'true'});
    swatch.style.setProperty('--swatch', `var(--${color})`);
    if (name === kNone) return make('span', {class: 'legend-item'}, swatch, text);
    return make(
      'button',
      {
        type: 'button',
        class: 'legend-item',
        title: `${bandSums(sheet, name)}: zoom to these ${stepsWord()}`,
        onclick: () => showBands(sheet, name),
      },
      swatch,
      text,
    );
  });
  return make('div', {class: 'legend bands', role: 'group', 'aria-label': 'Phases'}, items);
}

// "in the phases forward, backward, update" for the description of the map.
function bandWords(sheet) {
  const names = bandClasses(sheet).map(({text}) => text);
  return names.length === 0 ? '' : ` in the phases ${names.join(', ')}`;
}
