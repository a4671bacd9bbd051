// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// The state of the page. It is changed through `update`, which notifies all listeners.

const state = {
  sheets: [],
  isVerified: false, // whether the plan was replayed against its model when the page was made
  shown: null, // sheet of the plan that the page is about
  against: null, // sheet that it is compared with, or null
  inSight: [], // sheets drawn: one, or before and after side by side
  mode: 'after', // of a comparison: 'both', 'before' or 'after'
  region: 0,
  colourBy: 'peak',
  axis: null, // the kind of axis that the reader chose; null: the best that the sheet has
  opened: null, // the sheet that the page opens with
  active: null, // the sheet that tables and panel show; null: the last in sight
  selected: null, // {sheet, buffer}
  step: null, // the step that the table shows; null: the peak
  query: '',
  found: null, // search results: Map(sheet -> Uint8Array, 1 for each buffer found)
  onlyClass: null, // the class of the legend that is singled out, or null
  tab: 'step',
};

const listeners = [];

function onUpdate(listener) {
  listeners.push(listener);
}

// Sets the given keys, and tells all listeners which ones changed.
function update(changes) {
  const keys = new Set(Object.keys(changes).filter((key) => state[key] !== changes[key]));
  Object.assign(state, changes);
  if (keys.size > 0) listeners.forEach((listener) => listener(keys));
}

function activeSheet() {
  return state.inSight.includes(state.active) ? state.active : state.inSight.at(-1);
}

function peakStepOf(sheet) {
  return regionFacts(sheet, state.region).peakStep;
}

function activeStep() {
  const sheet = activeSheet();
  return Math.min(state.step ?? peakStepOf(sheet), Math.max(0, sheet.stepCount - 1));
}

function isRootComparison() {
  return state.against !== null && state.inSight.every((sheet) => sheet === state.shown || sheet === state.against);
}
