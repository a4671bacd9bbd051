// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Explains the lifetime of a buffer in sentences (lists of parts, as in sharing.js).

const kLongWait = 3; // a wait is mentioned if it has at least this many steps without a touch
const kLongShare = 0.15; // and at least this share of the buffer's life

// Steps that write or read the buffer, ascending, each once.
function touchesOf(sheet, buffer) {
  const touches = new Set();
  for (const value of sheet.valuesOfBuffer.of(buffer)) {
    if (sheet.valueWritten[value] !== kNone) touches.add(sheet.valueWritten[value]);
    for (const step of sheet.readersOf(value)) touches.add(step);
  }
  return [...touches].sort((a, b) => a - b);
}

function whyScratch(sheet, buffer) {
  const step = sheet.scratchStep[buffer];
  if (step === kNone) return [['No step uses this scratch.']];
  const words = [['Scratch: ', {step}, ' needs these bytes only while it runs.']];
  const bodies = sheet.bodies.get(step) ?? [];
  if (bodies.length > 0) {
    const names = bodies.map((body) => body.parent[2] || 'a body').join(' and ');
    const shared = bodies.length > 1 && new Set(bodies.map((body) => body.parent[3])).size < bodies.length;
    words.push([
      `It holds the arena of ${names}, which ${bodies.length > 1 ? 'are' : 'is'} planned separately` +
        (shared ? '. They share bytes, because only one of them runs.' : '.'),
    ]);
  }
  return words;
}

function whyBegins(sheet, buffer) {
  const first = firstWriter(sheet, buffer);
  const begin = sheet.bufferBegin[buffer];
  if (first === null) {
    return sheet.kindOf(buffer) === 'input'
      ? ['It exists from the start, because it is an input of this body and no other memory holds it.']
      : ['No step writes it.'];
  }
  const reserved =
    first.step > begin
      ? [` Its bytes are reserved ${plural(first.step - begin, 'step')} earlier, from step ${countText(begin)} on.`]
      : [];
  const whole = gatheredBy(sheet, first.value);
  if (whole !== kNone && sheet.valueWritten[whole] > first.step) {
    const early = sheet.valueWritten[whole] - first.step;
    return [
      'It begins early, because it holds ',
      {value: whole},
      ', which is complete at ',
      {step: sheet.valueWritten[whole]},
      '. The slice ',
      {value: first.value},
      ' is already written by ',
      {step: first.step},
      `, ${plural(early, 'step')} earlier.`,
      ...reserved,
    ];
  }
  return ['It begins when ', {step: first.step}, ' writes ', {value: first.value}, '.', ...reserved];
}

function whyEnds(sheet, buffer) {
  const end = sheet.bufferEnd[buffer];
  const last = lastReader(sheet, buffer);
  const handedOut = Array.from(sheet.valuesOfBuffer.of(buffer)).filter((value) => sheet.isHandedOut[value] !== 0);
  if (sheet.kindOf(buffer) === 'output' || handedOut.length > 0) {
    const names = handedOut.flatMap((value, at) => [at === 0 ? '' : ', ', {value}]);
    return [
      'It is live to the end, because it holds ',
      handedOut.length > 1 ? 'the outputs ' : 'the output ',
      ...names,
      ', which the caller reads after the last step.',
    ];
  }
  if (last === null) return ['No step reads it. It is live only while it is written.'];
  const others = new Set(Array.from(sheet.valuesOfBuffer.of(buffer)).flatMap((value) => sheet.readersOf(value)));
  const words = ['It ends with its last reader, ', {step: last.step}, ', which reads ', {value: last.value}];
  words.push(others.size > 1 ? ` (the last of ${plural(others.size, 'reader')}).` : ' (the only reader).');
  if (end > last.step + 1)
    words.push(` It is kept ${plural(end - last.step - 1, 'step')} longer, until step ${countText(end - 1)}.`);
  return words;
}

// For a value that is in the arena again: since when the earlier one is gone, and what that saves where.
function whyAgain(sheet, buffer) {
  const again = returnOf(sheet, buffer);
  if (again === null) return null;
  const {from, value, left, step, isMoved} = again;
  const steps = step - left - 1;
  const words = isMoved
    ? ['It came back: ', {step: left}, ' moved it out of the arena, and ', {step}, ' moves it in again. ']
    : ['It is computed again: ', {step}, ' has run before. '];
  if (steps <= 0) return words;
  const {load} = regionFacts(sheet, sheet.bufferRegion[buffer]);
  let fullest = left + 1;
  for (let at = fullest + 1; at < step; ++at) if (load[at] > load[fullest]) fullest = at;
  const size = sheet.valueSize(value);
  const lastRead = isMoved ? [] : ['The earlier value ', {value: from}, ' is last read by ', {step: left}, '. '];
  return [
    ...words,
    ...lastRead,
    `In the ${plural(steps, 'step')} between, its ${shortBytes(size)} are free. The most live bytes are at `,
    {step: fullest},
    `: ${shortBytes(load[fullest])} instead of ${shortBytes(load[fullest] + size)}.`,
  ];
}

// For a value that another one follows: when it is in the arena again.
function whyLeaves(sheet, buffer) {
  const next = returnsOf(sheet).find(({from}) => sheet.valueBuffer[from] === buffer);
  if (next === undefined) return null;
  return next.isMoved
    ? ['After ', {step: next.left}, ' has moved it out, it comes back at ', {step: next.step}, '.']
    : ['After ', {step: next.left}, ', it is dropped, and computed again at ', {step: next.step}, '.'];
}

// The longest range of steps in which no step touches the buffer.
function whyWaits(sheet, buffer) {
  const touches = touchesOf(sheet, buffer);
  let wait = {steps: 0, from: 0, until: kNone};
  for (let at = 1; at < touches.length; ++at) {
    const steps = touches[at] - touches[at - 1] - 1;
    if (steps > wait.steps && sheet.bytesThrough(buffer, touches[at - 1] + 1, touches[at]) > 0)
      wait = {steps, from: touches[at - 1] + 1, until: touches[at]};
  }
  const lived = sheet.bufferEnd[buffer] - sheet.bufferBegin[buffer];
  const tail = touches.length > 0 ? sheet.bufferEnd[buffer] - touches.at(-1) - 1 : 0;
  if (tail > wait.steps && tail >= kLongWait) {
    return [`No step touches it in its last ${plural(tail, 'step')} (${percentText(tail, lived)} of its life).`];
  }
  if (wait.steps < kLongWait || wait.steps < kLongShare * lived) return null;
  return [
    `No step touches it in ${spanText(wait.from, wait.until)} ` +
      `(${percentText(wait.steps, lived)} of its life). It waits for `,
    {step: wait.until},
    '. Recomputing it there, or swapping it out until then, would free ' +
      `${shortBytes(sheet.bytesThrough(buffer, wait.from, wait.until))} for ${plural(wait.steps, 'step')}. `,
    ...peakEffect(sheet, buffer, wait),
  ];
}

// What that would do to the peak.
function peakEffect(sheet, buffer, {from, until}) {
  const region = sheet.bufferRegion[buffer];
  const {load, largestLoad, peakStep} = regionFacts(sheet, region);
  const {bytes} = new ChangedLoad(sheet, region).remove(buffer, from, until).peak();
  if (bytes < largestLoad) return [`The peak would fall to ${shortBytes(bytes)}.`];
  return load.subarray(from, until).includes(largestLoad)
    ? ['That would not lower the peak, because other steps are as high.']
    : ['That would not lower the peak, which is at ', {step: peakStep}, '.'];
}

function whyParts(sheet, buffer) {
  if (sheet.blockCountOf(buffer) === 1) return null;
  const whole = sheet.bytesThrough(buffer, sheet.bufferBegin[buffer], sheet.bufferEnd[buffer]);
  const some = whole === 0 ? 'None of its bytes are live' : `Only ${shortBytes(whole)} of its bytes are live`;
  const others = whole === 0 ? 'them' : 'the other bytes';
  return [`${some} the whole time. Other buffers can use ${others} before they are written, and after they are read.`];
}

function whyItLives(sheet, buffer) {
  const kind = sheet.kindOf(buffer);
  if (kind === 'scratch') return whyScratch(sheet, buffer);
  if (!sheet.isPlaced(buffer)) {
    const holder = kind === 'input' ? 'the caller' : kind === 'constant' ? 'the model' : 'the runtime';
    return [[`Its bytes belong to ${holder}. They are in no arena, and no other buffer shares them.`]];
  }
  return [whyBegins, whyAgain, whyEnds, whyLeaves, whyParts, whyWaits]
    .map((why) => why(sheet, buffer))
    .filter((words) => words !== null);
}
