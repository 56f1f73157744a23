// One MCP client of the official TypeScript SDK, driven by a Go test.
//
// The single argument is JSON:
//   { "sdk": "v1" | "v2", "revision": "2026-07-28"?,
//     "stdio": { command, args, cwd, env } | "http": url | "sse": url }
//
// On stdout, one JSON object a line: first {"connected": …}; then, for each
// {"id", "method", "args"} line on stdin, {"id", "result"} or {"id", "error"};
// and {"notification": …} whenever the server sends one. A method is one of the
// SDK client's own, or of its Skills extension when it starts with "skills.".
// The end of stdin closes the connection.

import { createInterface } from 'node:readline';

const plan = JSON.parse(process.argv[2]);
const identity = { name: 'skills-mcp-integration', version: '1.0.0' };

// Stdout carries answers; what the SDK has to say goes with the rest.
console.log = console.info = console.debug = console.error;

function print(message) {
  process.stdout.write(JSON.stringify(message) + '\n');
}

// The skills client's bytes as base64, so that a test can compare them.
function encodable(value) {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(encodable);
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, encodable(field)]));
}

async function loadV1() {
  const base = '@modelcontextprotocol/sdk/client';
  const [{ Client }, { StdioClientTransport }, { StreamableHTTPClientTransport }, { SSEClientTransport }] =
    await Promise.all(['index.js', 'stdio.js', 'streamableHttp.js', 'sse.js'].map((file) => import(`${base}/${file}`)));
  return { StdioClientTransport, StreamableHTTPClientTransport, SSEClientTransport, client: new Client(identity) };
}

async function loadV2() {
  const { Client, StreamableHTTPClientTransport, SSEClientTransport } = await import('@modelcontextprotocol/client');
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
  const { SkillsClient } = await import('@modelcontextprotocol/client/ext/skills');
  const versionNegotiation = plan.revision ? { mode: { pin: plan.revision } } : undefined;
  const client = new Client(identity, { versionNegotiation });
  return {
    StdioClientTransport, StreamableHTTPClientTransport, SSEClientTransport,
    client, skills: new SkillsClient(client),
  };
}

// With a session, notifications come on a stream that the SDK opens after
// connect() has returned. A test that waited for less would miss some.
let streamOpened = Promise.resolve();

function transportFor(sdk) {
  if (plan.stdio) return new sdk.StdioClientTransport({ ...plan.stdio, stderr: 'inherit' });
  if (plan.sse) return new sdk.SSEClientTransport(new URL(plan.sse));
  if (plan.revision) return new sdk.StreamableHTTPClientTransport(new URL(plan.http));
  let opened;
  streamOpened = new Promise((resolve) => { opened = resolve; });
  const watched = async (url, init) => {
    const response = await fetch(url, init);
    if (init?.method === 'GET') opened();
    return response;
  };
  return new sdk.StreamableHTTPClientTransport(new URL(plan.http), { fetch: watched });
}

async function call(sdk, method, args) {
  const [owner, name] = method.startsWith('skills.')
    ? [sdk.skills, method.slice('skills.'.length)]
    : [sdk.client, method];
  const result = await owner[name](...args);
  // A subscription is a live object; that it was acknowledged is the news.
  return method === 'listen' ? { acknowledged: true } : encodable(result ?? null);
}

const sdk = plan.sdk === 'v1' ? await loadV1() : await loadV2();
const { client } = sdk;
client.fallbackNotificationHandler = async (notification) => print({ notification });
client.onerror = (error) => console.error('peer:', error.message);
await client.connect(transportFor(sdk));
await streamOpened;

print({
  connected: {
    server: client.getServerVersion(),
    capabilities: client.getServerCapabilities(),
    instructions: client.getInstructions(),
    revision: client.getNegotiatedProtocolVersion?.(),
    skills: sdk.skills?.supported ?? false,
    directoryRead: sdk.skills?.directoryRead ?? false,
  },
});

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, args } = JSON.parse(line);
  try {
    print({ id, result: await call(sdk, method, args ?? []) });
  } catch (error) {
    print({ id, error: { code: error.code, message: error.message } });
  }
}
await client.close();
process.exit(0);
