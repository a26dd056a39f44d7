// Runs plans that wgdml made: shader texts, parameters, bindings and grids, nothing else. serve.py's as_data says what each has.

const bytesOf = (base64) => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));

export class Runner {
  /** `shaders`: each with its text and the type of each of its slots. Throws where there is no adapter. */
  static async open(shaders) {
    const adapter = await navigator.gpu?.requestAdapter();
    if (!adapter) throw new Error('this browser gives no WebGPU adapter');
    const device = await adapter.requestDevice({ requiredFeatures: adapter.features.has('subgroups') ? ['subgroups'] : [] });
    return new Runner(adapter, device, shaders);
  }

  constructor(adapter, device, shaders) {
    Object.assign(this, { adapter, device, shaders, pipelines: new Map() });
  }

  get hasSubgroups() { return this.device.features.has('subgroups'); }

  #buffer(size, usage) {
    return this.device.createBuffer({ size: Math.max(16, Math.ceil(size / 16) * 16), usage });
  }

  async #pipeline(number) {
    if (!this.pipelines.has(number)) {
      const { text, slots } = this.shaders[number];
      const module = this.device.createShaderModule({ code: text });
      const wrong = (await module.getCompilationInfo()).messages.find(({ type }) => type === 'error');
      if (wrong) throw new Error(`shader ${number}, line ${wrong.lineNum}: ${wrong.message}`);
      const layout = this.device.createBindGroupLayout({
        entries: Object.entries(slots).map(([slot, type]) => (
          { binding: Number(slot), visibility: GPUShaderStage.COMPUTE, buffer: { type } })),
      });
      const pipeline = await this.device.createComputePipelineAsync({
        layout: this.device.createPipelineLayout({ bindGroupLayouts: [layout] }),
        compute: { module, entryPoint: 'main' },
      });
      this.pipelines.set(number, { pipeline, layout });
    }
    return this.pipelines.get(number);
  }

  /** Bytes in, {values, indices} as bytes out, of those that the plan has. */
  async run({ scratch_size, dispatches, outputs }, input) {
    const { STORAGE, COPY_SRC, COPY_DST, UNIFORM, MAP_READ } = GPUBufferUsage;
    this.device.pushErrorScope('validation');
    const buffers = { input: this.#buffer(input.byteLength, STORAGE | COPY_DST) };
    this.device.queue.writeBuffer(buffers.input, 0, input);
    for (const [name, size] of Object.entries(outputs)) buffers[name] = this.#buffer(size, STORAGE | COPY_SRC);
    buffers.scratch = this.#buffer(scratch_size, STORAGE);
    const spare = [];

    const encoder = this.device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    for (const dispatch of dispatches) {
      const { pipeline, layout } = await this.#pipeline(dispatch.shader);
      const block = bytesOf(dispatch.params);
      const params = this.#buffer(block.byteLength, UNIFORM | COPY_DST);
      this.device.queue.writeBuffer(params, 0, block);
      spare.push(params);
      const entries = dispatch.bindings.map(({ slot, buffer: name, offset, size }) => {
        const buffer = name === 'params' ? params : buffers[name];
        return { binding: slot, resource: { buffer, offset, size: Math.min(size, buffer.size - offset) } };
      });
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
