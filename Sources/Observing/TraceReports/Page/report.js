'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const get = id => document.getElementById(id);
const span = Math.max(data.end - data.begin, 1e-6);
const colors = { good: 'finished', bad: 'failed, lost or refused', wait: 'no answer, note', link: 'link',
  scan: 'scan', value: 'notification', seen: 'advertising and RSSI', control: 'control of the test' };
let zoom = 1, lanes = [];

function element(name, fields = {}, parent = null, text = null) {
  const isSVG = ['svg', 'rect', 'line', 'path', 'circle', 'polyline', 'text', 'g'].includes(name);
  const made = isSVG ? document.createElementNS('http://www.w3.org/2000/svg', name)
    : document.createElement(name);
  for (const [key, value] of Object.entries(fields)) made.setAttribute(key, value);
  if (text !== null) made.textContent = text;
  if (parent) parent.append(made);
  return made;
}

const seconds = time => time.toFixed(6).replace(/0{1,3}$/, '') + ' s';
const width = () => Math.max(320, get('chart').clientWidth) * zoom - 32;
const x = time => 16 + (time - data.begin) / span * (width() - 16);

// A shape that shows its details when it is pointed at, and its lines when it is chosen.
function hit(shape, text, time, words) {
  shape.classList.add('hit');
  shape.setAttribute('tabindex', '0');
  shape.dataset.words = words.toLowerCase();
  element('title', {}, shape);
  const title = document.createElementNS('http://www.w3.org/2000/svg', 'title');
  title.textContent = text;
  shape.replaceChildren(title);
  const show = () => { get('detail').textContent = text; };
  shape.addEventListener('pointerenter', show);
  shape.addEventListener('focus', show);
  shape.addEventListener('click', () => { show(); reveal(time); });
}

// The rows in which overlapping bars are drawn.
function rows(spans) {
  const ends = [];
  return spans.map(item => {
    const left = x(item.start), right = Math.max(x(item.end), left + 3);
    let row = ends.findIndex(end => end <= left + 0.5);
    if (row < 0) row = ends.length;
    ends[row] = right;
    return { item, row, left, right };
  });
}

function sentence(item, lane) {
  const result = item.outcome === 'open' ? 'without an answer at the end of the trace' : item.result;
  const ends = lane.kind === 'device' ? `${item.role} → ${lane.title}` : lane.title;
  return `${seconds(item.start)}  ${ends}: ${item.name}, ${item.latency}. ${result}`;
}

function color(item) {
  if (item.outcome === 'failure') return 'bad';
  if (item.kind === 'link' || item.kind === 'scan') return item.kind;
  return item.outcome === 'open' ? 'wait' : 'good';
}

function drawSpans(svg, lane, spans, top, height) {
  const placed = rows(spans);
  for (const { item, row, left, right } of placed) {
    const y = top + row * (height + 2);
    const bar = element('rect', { x: left, y, width: right - left, height, rx: 2,
      fill: `var(--${color(item)})`, stroke: 'var(--back)' }, svg);
    hit(bar, sentence(item, lane), item.start, `${item.name} ${item.role} ${lane.title} ${item.result} ${item.outcome}`);
    if (right - left > 60) {
      const label = element('text', { x: left + 4, y: y + height - 3, class: 'inside' }, svg);
      label.textContent = item.name.slice(0, Math.floor((right - left) / 7));
    }
  }
  const count = placed.reduce((most, { row }) => Math.max(most, row + 1), 0);
  return top + count * (height + 2);
}

// Advertising as density, and the signal strength as a line.
function drawSightings(svg, lane, top) {
  if (!lane.sightings.length) return top;
  const count = Math.max(40, Math.floor(width() / 6)), bins = new Array(count).fill(0);
  const bin = time => Math.min(count - 1, Math.floor((time - data.begin) / span * count));
  for (const [time] of lane.sightings) bins[bin(time)] += 1;
  const most = Math.max(...bins);
  bins.forEach((number, index) => {
    if (!number) return;
    const start = data.begin + index / count * span, height = 4 + 14 * number / most;
    const bar = element('rect', { x: x(start), y: top + 20 - height, width: width() / count, height,
      fill: 'var(--seen)', opacity: .45 }, svg);
    hit(bar, `${seconds(start)}  ${lane.title}: ${number} advertising packets`, start,
      `${lane.title} advertising`);
  });
  const level = rssi => top + 20 - Math.max(0, Math.min(1, (rssi + 100) / 70)) * 18;
  const points = lane.sightings.map(([time, rssi]) => `${x(time).toFixed(1)},${level(rssi).toFixed(1)}`);
  element('polyline', { points: points.join(' '), fill: 'none', stroke: 'var(--seen)' }, svg);
  const [time, rssi] = lane.sightings[lane.sightings.length - 1];
  element('text', { x: x(time) + 4, y: level(rssi) + 4 }, svg, `${rssi} dBm`);
  return top + 24;
}

function drawMarks(svg, lane, marks, top) {
  if (!marks.length) return top;
  const kinds = { notification: 'value', event: 'dim', command: 'good', control: 'control', note: 'wait' };
  for (const mark of marks) {
    const left = x(mark.time), isLoss = mark.kind === 'note' && / lost$/.test(mark.name);
    const fill = `var(--${isLoss ? 'bad' : kinds[mark.kind]})`;
    const shape = mark.kind === 'notification'
      ? element('rect', { x: left - 1, y: top, width: 3, height: 14, fill }, svg)
      : mark.kind === 'event' || mark.kind === 'command'
        ? element('circle', { cx: left, cy: top + 7, r: 4, fill }, svg)
        : element('path', { d: `M${left} ${top} l6 13 h-12 z`, fill }, svg);
    hit(shape, `${seconds(mark.time)}  ${lane.title}: ${mark.name} ${mark.detail}`, mark.time,
      `${mark.name} ${mark.detail} ${mark.role} ${lane.title} ${mark.kind}`);
  }
  return top + 18;
}

function drawLane(lane) {
  const box = element('div', { class: 'lane' }, get('chart'));
  const heading = element('h2', {}, box, lane.title);
  element('small', {}, heading, lane.kind === 'device' ? '  device' : '');
  const svg = element('svg', { width: width() + 16 }, box);
  let y = drawSightings(svg, lane, 2);
  const wide = lane.spans.filter(item => item.kind === 'link' || item.kind === 'scan');
  y = drawSpans(svg, lane, wide, y, 13);
  y = drawSpans(svg, lane, lane.spans.filter(item => !wide.includes(item)), y, 14);
  const isAside = mark => mark.kind === 'control' || mark.kind === 'note';
  y = drawMarks(svg, lane, lane.marks.filter(mark => !isAside(mark)), y);
  y = drawMarks(svg, lane, lane.marks.filter(isAside), y);
  svg.setAttribute('height', Math.max(8, y + 4));
}

function drawAxis() {
  const box = element('div', { class: 'lane axis' }, get('chart'));
  const svg = element('svg', { width: width() + 16, height: 22 }, box);
  const step = [1, 2, 5].flatMap(unit => [...Array(10)].map((_, power) => unit * 10 ** (power - 6)))
    .sort((one, other) => one - other).find(step => width() * step / span > 80) || span;
  for (let time = Math.ceil(data.begin / step) * step; time <= data.end; time += step) {
    element('line', { x1: x(time), x2: x(time), y1: 0, y2: 6 }, svg);
    element('text', { x: x(time) + 3, y: 15 }, svg, Number(time.toPrecision(9)) + ' s');
  }
}

function draw() {
  get('chart').replaceChildren();
  drawAxis();
  data.lanes.forEach(drawLane);
  search();
}

function drawLines() {
  for (const line of data.lines) {
    element('li', { class: (line.failed ? 'failed ' : '') + line.kind }, get('lines'), line.text);
  }
}

// Shows the line of a time.
function reveal(time) {
  const items = get('lines').children;
  for (const item of items) item.classList.remove('near');
  const index = data.lines.findIndex(line => line.time >= time - 1e-9);
  if (index < 0) return;
  for (let i = index; i < items.length && data.lines[i].time <= time + 1e-9; i += 1) {
    items[i].classList.add('near');
  }
  items[index].scrollIntoView({ block: 'center' });
}

function search() {
  const words = get('search').value.toLowerCase();
  for (const shape of document.querySelectorAll('.hit')) {
    shape.classList.toggle('faded', words !== '' && !shape.dataset.words.includes(words));
  }
  [...get('lines').children].forEach((item, index) => {
    item.hidden = words !== '' && !data.lines[index].text.toLowerCase().includes(words);
  });
}

function resize(factor) {
  const chart = get('chart'), middle = (chart.scrollLeft + chart.clientWidth / 2) / chart.scrollWidth;
  zoom = factor === 0 ? 1 : Math.max(1, Math.min(256, zoom * factor));
  draw();
  chart.scrollLeft = middle * chart.scrollWidth - chart.clientWidth / 2;
}

get('title').textContent = data.title;
const spans = data.lanes.flatMap(lane => lane.spans.map(item => ({ item, lane })));
const failed = spans.filter(({ item }) => item.outcome === 'failure');
const open = spans.filter(({ item }) => item.outcome === 'open' && item.kind !== 'link' && item.kind !== 'scan');
get('summary').textContent = `${data.lines.length} lines over ${seconds(span)}; ${failed.length} failed, ` +
  `${open.length} without an answer` + (data.omitted ? `; ${data.omitted} earlier lines are left out` : '');
for (const { item, lane } of [...failed, ...open].sort((one, other) => one.item.end - other.item.end).slice(-10)) {
  const line = element('li', { class: item.outcome }, get('failures'));
  const choice = element('button', {}, line, sentence(item, lane));
  choice.addEventListener('click', () => reveal(item.start));
}
for (const [name, text] of Object.entries(colors)) {
  const item = element('li', {}, get('legend'));
  element('i', { style: `background: var(--${name})` }, item);
  item.append(text);
}
get('detail').textContent = 'Point at a shape to read it; choose it to see its line.';
get('search').addEventListener('input', search);
get('in').addEventListener('click', () => resize(2));
get('out').addEventListener('click', () => resize(0.5));
get('fit').addEventListener('click', () => resize(0));
addEventListener('resize', () => draw());
drawLines();
draw();
