// Writes kernels of Metal as Naga makes them: node write.mjs FILE.wgsl..., each to FILE.metal.
import { readFileSync, writeFileSync } from "node:fs";
import { parseWgsl, validate, writeMsl } from "naga-wasm";

for (const path of process.argv.slice(2)) {
  const module = parseWgsl(readFileSync(path, "utf8"));
  writeFileSync(path.replace(/wgsl$/, "metal"), writeMsl(module, validate(module), { langVersion: [2, 4] }));
}
