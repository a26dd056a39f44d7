// WGSL assembly in the browser: what wgdml/shaders.py does, on the very same files. A test compares the two, text by text.

const DIRECTIVE = /^\s*#\s*(\w+)\s*(.*?)\s*$/;
const TERM = /^(!?)(\w+)$|^(\w+)\s*(==|>)\s*(\w+)$/;

/** The complete WGSL of a kernel. `files`: the text of each WGSL file by name, for example "reduce" or "lib/key". */
export function assemble(kernel, constants, files) {
  const imported = new Set();

  const value = (token) => {
    if (/^\d+$/.test(token)) return Number(token);
    if (!(token in constants)) throw new Error(`unknown constant ${token}`);
    return constants[token];
  };

  const holds = (condition) => condition.split('&&').every((term) => {
    const match = TERM.exec(term.trim());
    if (!match) throw new Error(`cannot read the condition ${condition}`);
    const [, negated, name, left, operator, right] = match;
    if (name !== undefined) return (value(name) !== 0) !== Boolean(negated);
    return operator === '==' ? value(left) === value(right) : value(left) > value(right);
  });

  const substitute = (line, variable, number) => line
    .replace(new RegExp(`\\$${variable}(?=u?\\b)`, 'g'), String(number))
    .replace(/\$\[([^\]]*)\]/g, (whole, text) => {
      const expression = text.replace(new RegExp(`\\b${variable}\\b`, 'g'), String(number));
      if (!/^[-\d\s()+*/%&|^~<>]*$/.test(expression)) return whole;  // an outer loop's; it has its turn
      return String(Math.trunc(Function(`return (${expression});`)()));
    });

  const endOfFor = (lines, start) => {
    let depth = 1;
    for (let number = start; number < lines.length; number++) {
      const directive = DIRECTIVE.exec(lines[number])?.[1];
      depth += directive === 'for' ? 1 : directive === 'endfor' ? -1 : 0;
      if (depth === 0) return number;
    }
    throw new Error('a #for without its #endfor');
  };

  const expand = (name, out) => {
    if (!(name in files)) throw new Error(`there is no WGSL file named ${name}`);
    return block(files[name].replace(/\n$/, '').split('\n'), out);
  };

  const block = (lines, out) => {
    const taken = [];  // one entry for each open #if: is this branch kept?
    const all = () => taken.every(Boolean);
    for (let number = 0; number < lines.length; number++) {
      const match = DIRECTIVE.exec(lines[number]);
      if (!match) {
        if (all()) out.push(lines[number]);
        continue;
      }
      const [, directive, rest] = match;
      if (directive === 'if') taken.push(all() && holds(rest));
      else if (directive === 'else') taken.push(!taken.pop() && all());
      else if (directive === 'endif') taken.pop();
      else if (directive === 'import') {
        if (all() && !imported.has(rest)) {
          imported.add(rest);
          expand(`lib/${rest}`, out);
        }
      } else if (directive === 'for') {
        const end = endOfFor(lines, number + 1);
        const [, variable, count] = /^(\w+) in (\w+)$/.exec(rest);
        if (all()) {
          for (let i = 0; i < value(count); i++) {
            block(lines.slice(number + 1, end).map((line) => substitute(line, variable, i)), out);
          }
        }
        number = end;
      } else throw new Error(`unexpected directive ${lines[number]}`);
    }
    return out;
  };

  // Python sorts by code point; the names are ASCII.
  const head = Object.keys(constants).sort().map((name) => `const ${name}: u32 = ${constants[name]}u;`);
  return [...head, ...expand(kernel, [])].join('\n') + '\n';
}
