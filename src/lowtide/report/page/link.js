// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// The address of the page holds what is shown, so that a link leads to the same picture:
// #plan=2&buffer=14&step=276&colour=size&view=0,40,0,65536

const kLinkPause = 200; // milliseconds after a change

const link = {timer: 0, own: ''};

function viewText() {
  const {x0, x1, y0, y1} = view;
  const isFit = x0 === 0 && x1 === view.steps && y0 === 0 && y1 === view.whole;
  return isFit ? null : [x0, x1, y0, y1].map((at) => Number(at.toPrecision(12))).join(',');
}

// What differs from the page when it opens: [[key, value], ...].
function linkParts() {
  const sheet = activeSheet();
  const isRoot = sheet === state.shown || sheet === state.against;
  return [
    ['plan', sheet === state.opened ? null : sheet.index],
    ['mode', isRoot && state.against !== null && state.mode !== 'both' ? state.mode : null],
    ['region', state.region === arenaRegions(sheet)[0] ? null : state.region],
    ['axis', state.axis],
    ['colour', state.colourBy === firstColour() ? null : state.colourBy],
    ['buffer', state.selected ? `${state.selected.sheet.index}.${state.selected.buffer}` : null],
    ['step', state.step],
    ['view', viewText()],
  ].filter(([, value]) => value !== null);
}

function writeLink() {
  clearTimeout(link.timer);
  link.timer = setTimeout(() => {
    link.own = linkParts()
      .map(([key, value]) => `${key}=${value}`)
      .join('&');
    if (location.hash.slice(1) === link.own) return;
    try {
      history.replaceState(null, '', `#${link.own}`);
    } catch {
      // A page in a sandbox has no address to change.
    }
  }, kLinkPause);
}

function wholeNumber(text, end) {
  const number = /^\d+$/.test(text ?? '') ? Number(text) : kNone;
  return number < end ? number : kNone;
}

// Shows what the address says. Parts that this page does not have are ignored.
function followLink() {
  const parts = new Map(
    location.hash
      .slice(1)
      .split('&')
      .map((part) => part.split('=')),
  );
  const plan = wholeNumber(parts.get('plan'), state.sheets.length);
  if (plan !== kNone) openSheet(state.sheets[plan]);
  if (state.against !== null && ['before', 'after'].includes(parts.get('mode'))) setMode(parts.get('mode'));
  const sheet = activeSheet();
  const region = wholeNumber(parts.get('region'), sheet.regions.length);
  if (region !== kNone) setRegion(region);
  if (sheet.axisKinds.includes(parts.get('axis'))) update({axis: parts.get('axis')});
  if (coloursOffered().includes(parts.get('colour'))) update({colourBy: parts.get('colour')});
  const [of, buffer] = (parts.get('buffer') ?? '').split('.');
  const owner = state.sheets[wholeNumber(of, state.sheets.length)];
  if (owner !== undefined && state.inSight.includes(owner) && wholeNumber(buffer, owner.bufferCount) !== kNone)
    select(owner, Number(buffer), !parts.has('view'));
  const step = wholeNumber(parts.get('step'), sheet.stepCount);
  if (step !== kNone) goToStep(step);
  const box = (parts.get('view') ?? '').split(',').map(Number);
  if (box.length === 4 && box.every(Number.isFinite) && box[0] < box[1] && box[2] < box[3]) {
    view.setBox(...box);
    redraw();
  }
}

function startLink() {
  if (location.hash.length > 1) followLink();
  window.addEventListener('hashchange', () => {
    if (location.hash.slice(1) !== link.own) followLink();
  });
}
