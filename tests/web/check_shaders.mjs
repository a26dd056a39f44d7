// Compiles WGSL with Tint, through Dawn's null backend: no driver, no GPU.
//
// Standard input: one JSON object a line, {name, text, pipeline}. `pipeline` makes a pipeline too, within the specification's
// minimum limits, so that workgroup sizes and memory are judged as well. Standard output: one JSON object a line for each shader with
// something to say, {name, messages: [{type, line, message}]}; last {checked: count}. Exit status 1 if anything was said.
import { createInterface } from 'node:readline';
import { create, globals } from 'webgpu';

Object.assign(globalThis, globals);
console.warn = () => {};  // Dawn prints each error there as well

const gpu = create(['backend=null']);
const adapter = await gpu.requestAdapter();
const features = ['subgroups'].filter((name) => adapter.features.has(name));
const device = await adapter.requestDevice({ requiredFeatures: features });
device.addEventListener?.('uncapturederror', (event) => event.preventDefault());

// Tint demands the directive and Naga refuses it, so the library's texts come without. No line break: lines keep their numbers.
const enabled = (text) => (/\bsubgroup\w+\(/.test(text) ? `enable subgroups; ${text}` : text);

async function check({ text, pipeline }) {
  device.pushErrorScope('validation');
  const module = device.createShaderModule({ code: enabled(text) });
  const { messages } = await module.getCompilationInfo();
  const said = messages.map(({ type, lineNum, message }) => ({ type, line: lineNum, message }));
  if (pipeline && !said.some(({ type }) => type === 'error')) {
    device.createComputePipeline({ layout: 'auto', compute: { module, entryPoint: 'main' } });
  }
  const error = await device.popErrorScope();
  if (error && !said.some(({ type }) => type === 'error')) said.push({ type: 'error', line: 0, message: error.message });
  return said;
}

let checked = 0;
let status = 0;
for await (const line of createInterface({ input: process.stdin })) {
  const shader = JSON.parse(line);
  const messages = await check(shader);
  checked += 1;
  if (messages.length) {
    status = 1;
    process.stdout.write(JSON.stringify({ name: shader.name, messages }) + '\n');
  }
}
process.stdout.write(JSON.stringify({ checked }) + '\n', () => process.exit(status));
