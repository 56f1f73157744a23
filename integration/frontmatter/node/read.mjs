// Reads YAML documents as the package yaml does and says what it made of each.
//
// stdin:  a JSON array of documents, each the base64 of its bytes.
// stdout: a JSON array with one object for each document: "json", the text that
//         JSON.stringify gives of what YAML.parse gives, or "error", why there
//         is none; and "facts", what the syntax tree tells besides.

import { readFileSync } from 'node:fs';
import * as YAML from 'yaml';

/** What the syntax tree tells: how many keys are no strings, and how deep collections nest. */
function facts(text) {
  const document = YAML.parseDocument(text, { logLevel: 'silent' });
  const found = { oddKeys: 0, depth: 0 };
  YAML.visit(document, {
    Node(_, node, path) {
      found.depth = Math.max(found.depth, path.filter(YAML.isCollection).length);
    },
    Pair(_, { key }) {
      const target = YAML.isAlias(key) ? key.resolve(document) : key;
      if (!YAML.isScalar(target) || typeof target.value !== 'string') found.oddKeys++;
    },
  });
  return found;
}

function read(encoded) {
  try {
    const bytes = Buffer.from(encoded, 'base64');
    // YAML 1.2.2, section 5.2: what is not a Unicode encoding is not YAML.
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    const json = JSON.stringify(YAML.parse(text, { logLevel: 'error' }));
    return { json, facts: facts(text) };
  } catch (error) {
    return { error: `${error.name}: ${error.message}` };
  }
}

process.stdout.write(JSON.stringify(JSON.parse(readFileSync(0, 'utf8')).map(read)));
