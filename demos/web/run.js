// Runs plans that wgdml made: kernels, constants, parameters, bindings and grids, nothing else.
import { assemble } from './assemble.js';

const bytesOf = (base64) => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));

export class Runner {
  /** `files`: the text of each WGSL file by name. Throws where there is no adapter. */
  static async open(files) {
    const adapter = await navigator.gpu?.requestAdapter();
    if (!adapter) throw new Error('this browser gives no WebGPU adapter');
    const device = await adapter.requestDevice({ requiredFeatures: adapter.features.has('subgroups') ? ['subgroups'] : [] });
    return new Runner(adapter, device, files);
  }

  constructor(adapter, device, files) {
    Object.assign(this, { adapter, device, files, pipelines: new Map() });
  }

  get hasSubgroups() { return this.device.features.has('subgroups'); }

  #buffer(size, usage) {
    return this.device.createBuffer({ size: Math.max(16, Math.ceil(size / 16) * 16), usage });
  }

  async #pipeline({ kernel, constants, bindings }) {
    const slots = [0, ...bindings.map(({ slot }) => slot)];
    const text = assemble(kernel, constants, this.files);
    // Browsers demand the directive, and wgpu refuses it: the library's own texts come without.
    const code = /\bsubgroup\w+\(/.test(text) ? `enable subgroups; ${text}` : text;
    const key = `${slots} ${code}`;
    if (!this.pipelines.has(key)) {
      const type = (slot) => ({ 0: 'uniform', 1: 'read-only-storage' })[slot] ?? 'storage';
      const layout = this.device.createBindGroupLayout({
        entries: slots.map((binding) => ({ binding, visibility: GPUShaderStage.COMPUTE, buffer: { type: type(binding) } })),
      });
      const pipeline = await this.device.createComputePipelineAsync({
        layout: this.device.createPipelineLayout({ bindGroupLayouts: [layout] }),
        compute: { module: this.device.createShaderModule({ code }), entryPoint: 'main' },
      });
      this.pipelines.set(key, { pipeline, layout });
    }
    return this.pipelines.get(key);
  }

  /** Bytes in, {values, indices} as bytes out, of those that the plan has. */
  async run({ plan, outputs }, input) {
    const { STORAGE, COPY_SRC, COPY_DST, UNIFORM, MAP_READ } = GPUBufferUsage;
    this.device.pushErrorScope('validation');
    const buffers = { input: this.#buffer(input.byteLength, STORAGE | COPY_DST) };
    this.device.queue.writeBuffer(buffers.input, 0, input);
    for (const [name, size] of Object.entries(outputs)) buffers[name] = this.#buffer(size, STORAGE | COPY_SRC);
    buffers.scratch = this.#buffer(plan.scratch_size, STORAGE);
    const spare = [];

    const encoder = this.device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    for (const dispatch of plan.dispatches) {
      const { pipeline, layout } = await this.#pipeline(dispatch);
      const block = bytesOf(dispatch.params);
      const params = this.#buffer(block.byteLength, UNIFORM | COPY_DST);
      this.device.queue.writeBuffer(params, 0, block);
      spare.push(params);
      const entries = [{ binding: 0, resource: { buffer: params, size: block.byteLength } }];
      for (const { slot, resource, offset, size } of dispatch.bindings) {
        const buffer = buffers[resource];
        entries.push({ binding: slot, resource: { buffer, offset, size: Math.min(size, buffer.size - offset) } });
      }
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, this.device.createBindGroup({ layout, entries }));
      pass.dispatchWorkgroups(...dispatch.grid);
    }
    pass.end();
    const reads = {};
    for (const name of Object.keys(outputs)) {
      reads[name] = this.#buffer(buffers[name].size, COPY_DST | MAP_READ);
      encoder.copyBufferToBuffer(buffers[name], 0, reads[name], 0, buffers[name].size);
    }
    this.device.queue.submit([encoder.finish()]);
    const error = await this.device.popErrorScope();
    if (error) throw new Error(error.message);

    const results = {};
    for (const [name, size] of Object.entries(outputs)) {
      await reads[name].mapAsync(GPUMapMode.READ);
      results[name] = new Uint8Array(reads[name].getMappedRange().slice(0, size));
      reads[name].destroy();
    }
    [...Object.values(buffers), ...spare].forEach((buffer) => buffer.destroy());
    return results;
  }
}

/** The bytes that a case starts from: the same 32-bit words on every machine (the finalizer of MurmurHash3 over their numbers). */
export function inputOf({ words, mask }) {
  const bits = new Uint32Array(words);
  for (let i = 0; i < words; i++) {
    let h = i + 1;
    h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
    h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
    bits[i] = (h ^ (h >>> 16)) & mask;
  }
  return new Uint8Array(bits.buffer);
}
