// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Reads the plans of the page.

// A bound holds for every plan of its scope, so the larger one holds for both plans of a comparison.
function shareBounds(one, other) {
  if (one.bound_scope !== other.bound_scope || one.dims.join() !== other.dims.join()) return;
  const {bound, bound_name: name} = one.bound >= other.bound ? one : other;
  for (const facts of [one, other]) Object.assign(facts, {bound, bound_name: name});
}

// All sheets of the page, with bodies attached to the steps that run them.
function readSheets() {
  const embedded = JSON.parse(byId('sheets').textContent);
  const sheets = embedded.sheets.map((columns, index) =>
    columns.packing ? new PackingSheet(columns, index, embedded) : new Sheet(columns, index, embedded),
  );
  for (const sheet of sheets) {
    if (!sheet.parent) continue;
    const [outer, step] = sheet.parent;
    const list = sheets[outer].bodies;
    list.set(step, [...(list.get(step) ?? []), sheet]);
  }
  const at = (index) => (index === null ? null : sheets[index]);
  if (embedded.against !== null) shareBounds(at(embedded.shown).facts, at(embedded.against).facts);
  return {sheets, shown: at(embedded.shown), against: at(embedded.against), isVerified: embedded.verified};
}
