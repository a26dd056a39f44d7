// The page: runs every case, draws what came out, and tells the server (if it wants to know) the bytes.
import { Runner, inputOf } from './run.js';

const base64 = (bytes) => {
  let text = '';
  for (let i = 0; i < bytes.length; i += 0x8000) text += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
  return btoa(text);
};

const hex = async (bytes) => [...new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))]
  .map((byte) => byte.toString(16).padStart(2, '0')).join('');

const ARRAYS = { uint8: Uint8Array, uint32: Uint32Array, int32: Int32Array, float32: Float32Array, float64: Float64Array };

/** Values as a cloud of points, left to right, on a logarithmic scale; the chosen ones in colour. */
function draw(canvas, values, chosen) {
  const context = canvas.getContext('2d');
  const { width, height } = canvas;
  const finite = values.filter(Number.isFinite).map((v) => Math.sign(v) * Math.log1p(Math.abs(v)));
  const low = finite.reduce((a, b) => Math.min(a, b), Infinity);
  const high = finite.reduce((a, b) => Math.max(a, b), -Infinity);
  const point = (i, size) => {
    const v = Math.sign(values[i]) * Math.log1p(Math.abs(values[i]));
    const y = Number.isFinite(v) ? height - ((v - low) / (high - low || 1)) * (height - 4) - 2 : 2;
    context.fillRect((i / values.length) * width, y - size / 2, size, size);
  };
  context.clearRect(0, 0, width, height);
  context.fillStyle = '#6b7a90';
  for (let i = 0; i < values.length; i += Math.max(1, Math.floor(values.length / 4000))) point(i, values.length < 500 ? 3 : 1.5);
  context.fillStyle = '#d6452b';
  for (const i of chosen) point(i, 5);
}

function show(example, input, results, right) {
  const section = document.createElement('section');
  const title = document.createElement('h2');
  title.textContent = example.name;
  const verdict = document.createElement('p');
  verdict.className = right ? 'right' : 'wrong';
  verdict.textContent = right ? `every bit as expected, in ${example.milliseconds} ms with compilation` : 'WRONG: not the expected bits';
  section.append(title, verdict);
  // The first sequence: a row, or a column that is `step` elements from one to the next.
  const step = example.axis === 1 ? 1 : example.shape[1];
  const sequence = (array, length) => Array.from({ length }, (_, i) => array[i * step]);
  const elements = (bytes, length) => sequence(new ARRAYS[example.dtype](bytes.buffer), length);
  const length = example.shape[example.axis];
  const canvas = document.createElement('canvas');
  Object.assign(canvas, { width: 720, height: 120 });
  if (example.k === length) {
    draw(canvas, elements(results.values, length), []);
  } else {
    draw(canvas, elements(input, length), sequence(new Uint32Array(results.indices.buffer), example.k));
  }
  section.append(canvas);
  document.querySelector('main').append(section);
}

async function main() {
  const status = document.querySelector('#status');
  const report = { adapter: '', subgroups: false, cases: [], error: null };
  try {
    const { shaders, cases: all } = await (await fetch('plans.json')).json();
    const runner = await Runner.open(shaders);
    const { vendor, architecture, device, description } = runner.adapter.info;
    report.adapter = [vendor, architecture, device, description].filter(Boolean).join(' ');
    status.textContent = `running on ${report.adapter || 'an adapter without a name'}`;
    report.subgroups = runner.hasSubgroups;
    const cases = all.filter(({ subgroups }) => !subgroups || report.subgroups);
    let wrong = 0;
    for (const example of cases) {
      const input = inputOf(example.input);
      const start = performance.now();
      const results = await runner.run(example, input);
      example.milliseconds = Math.round(performance.now() - start);
      let right = true;
      for (const [name, bytes] of Object.entries(results)) right &&= (await hex(bytes)) === example.expected[name];
      wrong += right ? 0 : 1;
      show(example, input, results, right);
      const encoded = Object.fromEntries(Object.entries(results).map(([name, bytes]) => [name, base64(bytes)]));
      report.cases.push({ name: example.name, right, results: encoded });
    }
    status.textContent = `${cases.length - wrong} of ${cases.length} right on ${report.adapter || 'an adapter without a name'}`;
  } catch (error) {
    report.error = String(error?.stack ?? error);
    status.textContent = String(error);
    status.className = 'wrong';
  }
  if (new URLSearchParams(location.search).has('report')) {
    await fetch('report', { method: 'POST', body: JSON.stringify(report) });
  }
}

main();
