// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// The main script: reads the plans, makes the charts, and redraws what a change affects.

// Charts for the sheets in sight. They are made again only if their number changes.
function placeCharts() {
  const host = byId('charts');
  if (charts.length !== state.inSight.length) {
    charts.length = 0;
    host.replaceChildren();
    for (let at = 0; at < state.inSight.length; ++at) {
      const side = make('section', {class: 'chart'});
      host.append(side);
      const chart = new Chart(side, view);
      charts.push(chart);
      startPointer(chart);
    }
  }
  const isNamed = isRootComparison();
  const loadTops = (isNamed ? [state.against, state.shown] : state.inSight).map((sheet) => {
    const {largestLoad, limit} = regionFacts(sheet, state.region);
    const bound = hasBoundIn(sheet, state.region) ? sheet.facts.bound : 0;
    return Math.max(largestLoad, bound, topOf({arena: largestLoad, limit}));
  });
  charts.forEach((chart, at) => {
    const sheet = state.inSight[at];
    const name = !isNamed ? '' : sheet === state.shown ? 'After' : 'Before';
    chart.setSheet(sheet, name === '' ? '' : `${name}: arena ${shortBytes(totals(sheet).arena)}`);
    chart.loadTop = Math.max(1, ...loadTops) * 1.06;
  });
}

function paintCharts() {
  const sheets = isRootComparison() ? [state.against, state.shown] : state.inSight;
  const shared = {ops: heaviestOps(sheets), largest: largestBuffer(sheets)};
  for (const chart of charts) {
    const painted = paintSheet(chart.sheet, state.colourBy, shared);
    const found = state.found?.get(chart.sheet) ?? null;
    const {onlyClass} = state;
    const lit =
      found === null && onlyClass === null
        ? null
        : (buffer) =>
            (found === null || found[buffer] === 1) && (onlyClass === null || painted.classOf[buffer] === onlyClass);
    chart.setPaint(painted, lit);
  }
}

function respond(keys) {
  const has = (...names) => names.some((name) => keys.has(name));
  const isOther = has('inSight', 'region', 'axis');
  if (isOther) {
    const before = {...view};
    placeAxes();
    placeCharts();
    setDomain();
    if (view.steps === before.steps && view.top === before.top && has('inSight')) Object.assign(view, before);
    tableView.rows = kRowsAtOnce;
  }
  if (isOther || has('colourBy', 'found', 'onlyClass')) {
    paintCharts();
    drawToolbar();
  }
  if (isOther) {
    drawHeader();
    drawComparison();
    charts.forEach((chart) => chart.resize());
  } else if (has('colourBy', 'found', 'onlyClass')) {
    redraw();
  }
  if (isOther || has('tab', 'step', 'colourBy', 'active')) {
    drawTabs();
    drawTable();
    if (isOther || has('tab')) sizeDock();
  }
  if (has('selected')) markRow();
  if (isOther || has('selected', 'active')) drawPanel();
  redraw('overlay');
  writeLink();
}

function chooseTheme() {
  switchTheme();
  refreshColours();
}

function refreshColours() {
  byId('theme').setAttribute('aria-pressed', String(theme.name === 'dark'));
  paintCharts();
  redraw();
}

// Prints in the light theme.
function startPrint() {
  let screenTheme = 'light';
  window.addEventListener('beforeprint', () => {
    screenTheme = theme.name;
    applyTheme('light');
    paintCharts();
    charts.forEach((chart) => chart.draw());
  });
  window.addEventListener('afterprint', () => {
    applyTheme(screenTheme);
    refreshColours();
  });
}

function startButtons() {
  byId('theme').addEventListener('click', chooseTheme);
  byId('save-svg').addEventListener('click', saveSvg);
  byId('save-png').addEventListener('click', savePng);
  byId('open-help').addEventListener('click', () => byId('help').showModal());
}

function onScreen(chart, {x0, x1, y0, y1}) {
  const {left, top} = chart.overlay.getBoundingClientRect();
  return {x0: x0 + left, x1: x1 + left, y0: y0 + top, y1: y1 + top};
}

// For the console and tests: the state, positions of buffers on the screen, and the cost of the last frames.
function openConsole() {
  window.lowtide = {
    state,
    view,
    charts,
    boxOf(buffer, at = 0) {
      return onScreen(charts[at], boxOf(charts[at], buffer));
    },
    boxesOf(buffer, at = 0) {
      return boxesOf(charts[at], buffer).map((box) => onScreen(charts[at], box));
    },
    frames: () => charts.map((chart) => ({...chart.frame})),
    svg: exportSvg,
    update,
    select,
    goToStep,
  };
}

function start() {
  const {sheets, shown, against: other, isVerified} = readSheets();
  Object.assign(state, {sheets, isVerified, shown, against: other, mode: other === null ? 'after' : 'both'});
  document.body.dataset.about = shown.isPacking ? 'packing' : 'plan';
  if (shown.bands) document.body.dataset.bands = 'yes';
  startTheme(refreshColours);
  onUpdate(respond);
  startSearch();
  startKeys();
  startButtons();
  startPrint();
  openConsole();
  state.opened = other === null ? dominatingBody(shown) : shown;
  if (shown.isPacking) state.colourBy = 'size';
  update({
    inSight: state.opened === shown ? sheetsOfMode(state.mode) : [state.opened],
    region: arenaRegions(state.opened)[0],
  });
  startLink();
  new ResizeObserver(() => charts.forEach((chart) => chart.resize())).observe(byId('charts'));
  document.body.dataset.ready = 'yes';
}

start();
