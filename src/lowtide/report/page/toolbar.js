// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// The row above the picture: the choice of plan, region and colours, the legend, and zoom.

// A group of radio buttons for [{key, text, title}]. Arrow keys move between them.
function choice(label, options, current, choose) {
  const buttons = options.map(({key, text, title}) =>
    make(
      'button',
      {
        type: 'button',
        role: 'radio',
        'aria-checked': String(key === current),
        tabindex: key === current ? '0' : '-1',
        title: title ?? null,
        onclick: () => choose(key),
      },
      text,
    ),
  );
  return make(
    'div',
    {
      class: 'choice',
      role: 'radiogroup',
      'aria-label': label,
      onkeydown: (event) => {
        const shift = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
        const at = buttons.indexOf(document.activeElement);
        if (!shift || at < 0) return;
        event.preventDefault();
        event.stopPropagation();
        const next = (at + shift + buttons.length) % buttons.length;
        choose(options[next].key);
        byId('toolbar').querySelector(`[aria-label="${label}"] [aria-checked="true"]`)?.focus();
      },
    },
    buttons,
  );
}

function comparisonChoice() {
  if (!isRootComparison()) return null;
  return choice(
    'Plan in sight',
    [
      {key: 'both', text: 'Side by side'},
      {key: 'before', text: 'Before', title: 'B switches between before and after'},
      {key: 'after', text: 'After', title: 'B switches between before and after'},
    ],
    state.mode,
    setMode,
  );
}

function regionChoice() {
  const regions = [...new Set(state.inSight.flatMap((sheet) => sheet.usedRegions()))].sort((a, b) => a - b);
  if (regions.length < 2) return null;
  const {regions: known} = state.inSight.at(-1);
  return choice(
    'Region',
    regions.map((region) => ({
      key: region,
      text: elide(known[region]?.name || `region ${region}`, 24),
      title: shortBytes(known[region]?.arena ?? 0),
    })),
    state.region,
    setRegion,
  );
}

function colourChoice() {
  const names = {
    peak: 'Peak',
    operator: 'Operator',
    size: 'Size',
    stream: 'Stream',
    kind: 'Kind',
    runs: 'Runs',
    change: 'Change',
  };
  const options = coloursOffered().map((key) => ({key, text: names[key]}));
  return choice('Colour by', options, state.colourBy, (colourBy) => update({colourBy, onlyClass: null}));
}

function axisChoice() {
  const kinds = activeSheet().axisKinds;
  if (kinds.length < 2) return null;
  const options = {
    folded: {text: 'Folded', title: 'Steps in a row that touch less than 0.1 % of the peak take the space of one'},
    steps: {text: 'All steps', title: 'Every step is equally wide'},
    time: {text: 'Time', title: 'Estimated times'},
  };
  return choice(
    'Axis',
    kinds.map((key) => ({key, ...options[key]})),
    activeSheet().axis.kind,
    (axis) => update({axis}),
  );
}

// The classes of the drawn buffers. A click shows only one of them.
function legend() {
  const chart = charts.at(-1);
  const present = new Map();
  for (const each of charts) {
    for (const buffer of each.facts.placed) {
      if (!each.sheet.isMain(buffer)) continue;
      const at = Math.floor((each.paints[buffer] % kDimmed) / kShades);
      present.set(at, (present.get(at) ?? 0) + 1);
    }
  }
  const items = [...present.keys()]
    .sort((a, b) => a - b)
    .map((at) => {
      const {name, color} = chart.classes[at];
      const swatch = make('span', {class: isHatched(name) ? 'swatch hatched' : 'swatch', 'aria-hidden': 'true'});
      swatch.style.setProperty('--swatch', `var(--${color})`);
      const isOnly = state.onlyClass === at;
      return make(
        'button',
        {
          type: 'button',
          class: 'legend-item',
          'aria-pressed': String(isOnly),
          title: `${plural(present.get(at), 'buffer')}: show only these`,
          onclick: () => update({onlyClass: isOnly ? null : at}),
        },
        swatch,
        elide(name || '(no operator)', 28),
      );
    });
  return make('div', {class: 'legend', role: 'group', 'aria-label': 'Legend'}, items, markKeys());
}

function stepsWord() {
  return state.shown.isPacking ? 'times' : 'steps';
}

// What hatching and marked edges mean, while other colours do not say it. A click shows the colours that do.
function markKeys() {
  if (state.colourBy === 'runs') return [];
  const all = state.inSight.flatMap((sheet) => returnsOf(sheet));
  return [
    ['runs again', 'hatched again', all.some(({isMoved}) => !isMoved)],
    ['comes back', 'edge', all.some(({isMoved}) => isMoved)],
  ]
    .filter(([, , isPresent]) => isPresent)
    .map(([text, kind]) =>
      make(
        'button',
        {
          type: 'button',
          class: 'legend-item',
          title: 'Colour by runs, and show an arrow from the earlier value to each later one',
          onclick: () => update({colourBy: 'runs', onlyClass: null}),
        },
        make('span', {class: `swatch ${kind}`, 'aria-hidden': 'true'}),
        text,
      ),
    );
}

function tool(text, title, onclick) {
  return make('button', {type: 'button', class: 'tool', title, 'aria-label': title, onclick}, text);
}

function drawToolbar() {
  const labelled = (label, control) =>
    control === null ? null : make('div', {class: 'labelled'}, make('span', {class: 'label'}, label), control);
  fill(
    byId('toolbar'),
    labelled('Show', comparisonChoice()),
    labelled('Region', regionChoice()),
    labelled('Colour', colourChoice()),
    labelled('Axis', axisChoice()),
    labelled('Phases', bandLegend(activeSheet())),
    make(
      'div',
      {class: 'legend-and-tools'},
      legend(),
      make(
        'div',
        {class: 'tools'},
        tool('−', `Zoom out on ${stepsWord()} alone (- or Alt + wheel)`, () => zoomBy(1.6, 1)),
        tool('+', `Zoom in on ${stepsWord()} alone (+ or Alt + wheel)`, () => zoomBy(1 / 1.6, 1)),
        tool('To peak', 'Zoom to the peak and the steps beside it (P)', goToPeak),
        tool('Show all', 'Show all steps and addresses (0)', fitView),
      ),
    ),
  );
}
