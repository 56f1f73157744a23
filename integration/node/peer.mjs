// One MCP client of the official TypeScript SDK, driven by a Go test.
//
// The single argument is JSON:
//   { "client": "sdk1" | "sdk2", "mode": "legacy" | "auto", "revision": "2026-07-28"?,
//     "answers": [answer to a question of the server, …]?,
//     "stdio": { command, args, env } | "http": url | "sse": url }
//
// On stdout, one JSON object a line: first {"connected": …}; then, for each
// {"id", "method", "args", "progress"?} line on stdin, {"id", "result"} or
// {"id", "error"}, as soon as it is known; {"progress": {"id", "message"}} for
// a call that asked for it; and {"notification": …} whenever the server sends
// one. A method is one of the SDK client's own, or of its Skills extension when
// it starts with "skills.". "cancel" gives up the request whose id is its
// argument; "watch" and "unwatch" subscribe to the changes of a resource, in
// the way of the protocol's era. The end of stdin closes the connection.

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

// A plan with answers is of a client whose user gives them, in their order.
const capabilities = plan.answers ? { elicitation: { form: {} } } : {};

async function answerQuestions(client) {
  const answered = () => ({ action: 'accept', content: { answer: plan.answers.shift() } });
  if (plan.client === 'sdk2') return client.setRequestHandler('elicitation/create', answered);
  const { ElicitRequestSchema } = await import('@modelcontextprotocol/sdk/types.js');
  return client.setRequestHandler(ElicitRequestSchema, answered);
}

async function loadV1() {
  const base = '@modelcontextprotocol/sdk/client';
  const [{ Client }, { StdioClientTransport }, { StreamableHTTPClientTransport }, { SSEClientTransport }] =
    await Promise.all(['index.js', 'stdio.js', 'streamableHttp.js', 'sse.js'].map((file) => import(`${base}/${file}`)));
  return { StdioClientTransport, StreamableHTTPClientTransport, SSEClientTransport, client: new Client(identity, { capabilities }) };
}

async function loadV2() {
  const { Client, StreamableHTTPClientTransport, SSEClientTransport } = await import('@modelcontextprotocol/client');
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
  const { SkillsClient } = await import('@modelcontextprotocol/client/ext/skills');
  const versionNegotiation = { mode: plan.revision ? { pin: plan.revision } : plan.mode };
  const client = new Client(identity, { versionNegotiation, capabilities });
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

const listening = new Map(); // by URI

const isModern = () => client.getNegotiatedProtocolVersion?.() >= '2026-07-28';

async function watch(uri) {
  if (!isModern()) return client.subscribeResource({ uri });
  const filter = { resourcesListChanged: true, promptsListChanged: true, resourceSubscriptions: [uri] };
  listening.set(uri, await client.listen(filter));
}

async function unwatch(uri) {
  return isModern() ? listening.get(uri).close() : client.unsubscribeResource({ uri });
}

const cancels = new Map(); // of the calls, by request

function callTool(params, { id, progress }) {
  const cancel = new AbortController();
  cancels.set(id, cancel);
  const options = { signal: cancel.signal };
  if (progress) options.onprogress = ({ message }) => print({ progress: { id, message } });
  return plan.client === 'sdk1' ? client.callTool(params, undefined, options) : client.callTool(params, options);
}

async function call(request) {
  const { method, args = [] } = request;
  switch (method) {
    case 'cancel': return cancels.get(args[0]).abort();
    case 'watch': return watch(...args);
    case 'unwatch': return unwatch(...args);
    case 'callTool': return callTool(args[0], request);
  }
  const skills = method.startsWith('skills.');
  return (skills ? sdk.skills : client)[skills ? method.slice('skills.'.length) : method](...args);
}

async function answer(request) {
  const { id } = request;
  try {
    print({ id, result: encodable((await call(request)) ?? null) });
  } catch (error) {
    print({ id, error: { code: error.code ?? error.name, message: error.message, data: error.data } });
  }
}

const sdk = plan.client === 'sdk1' ? await loadV1() : await loadV2();
if (plan.answers) await answerQuestions(sdk.client);
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

for await (const line of createInterface({ input: process.stdin })) answer(JSON.parse(line));
await client.close();
process.exit(0);
