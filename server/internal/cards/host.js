// The card's half of the dialogue with its host: JSON-RPC by messages to the window
// that the card is framed in, and from it; nobody else is heard (MCP Apps 2026-01-26).

const root = document.documentElement;

// What the host said of itself, and of the call that the card is for.
const host = { ready: false, capabilities: {}, tool: "" };
const call = { input: null, result: null, cancelled: null };

const waiting = new Map(); // what the card asked for, by the ids of its requests
let lastID = 0;
let draw = () => {};

function object(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value) ? value : {};
}

function list(value) {
  return Array.isArray(value) ? value : [];
}

function text(value) {
  return typeof value === "string" ? value : "";
}

function count(value) {
  return Number.isFinite(value) && value > 0 ? value : 0;
}

function post(message) {
  // The host's origin cannot be known, and nothing that is said is a secret to it.
  window.parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
}

function ask(method, params) {
  const id = ++lastID;
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve, reject });
    post({ id, method, params });
  });
}

// readResource asks the server, by the host, for what a URI names.
async function readResource(uri) {
  if (!/^(changes|skill|workspace):\/\//.test(uri)) {
    throw new Error("It is no resource of this server.");
  }
  const contents = object(list(object(await ask("resources/read", { uri })).contents)[0]);
  if (typeof contents.text !== "string" && typeof contents.blob !== "string") {
    throw new Error("The host gave nothing.");
  }
  return contents;
}

function canRead() {
  return typeof host.capabilities.serverResources === "object";
}

function receive(event) {
  if (event.source !== window.parent || window.parent === window) {
    return;
  }
  const message = object(event.data);
  if (message.jsonrpc !== "2.0") {
    return;
  }
  if (typeof message.method !== "string") {
    settle(message);
  } else if (message.id !== undefined) {
    serve(message);
  } else if (host.ready) {
    hear(message.method, object(message.params));
  }
}

// settle takes the answer to a request, once.
function settle(message) {
  const asked = waiting.get(message.id);
  waiting.delete(message.id);
  if (!asked) {
    return;
  }
  if (message.error !== undefined) {
    asked.reject(new Error(text(object(message.error).message) || "The host refused."));
  } else {
    asked.resolve(object(message.result));
  }
}

function serve(message) {
  switch (message.method) {
    case "ping":
      post({ id: message.id, result: {} });
      break;
    case "ui/resource-teardown":
      window.removeEventListener("message", receive);
      sizes.disconnect();
      post({ id: message.id, result: {} });
      break;
    default:
      post({ id: message.id, error: { code: -32601, message: "a card has no such method" } });
  }
}

function hear(method, params) {
  switch (method) {
    case "ui/notifications/tool-input":
      call.input = object(params.arguments);
      break;
    case "ui/notifications/tool-result":
      call.result = params;
      break;
    case "ui/notifications/tool-cancelled":
      call.cancelled = text(params.reason);
      break;
    case "ui/notifications/host-context-changed":
      applyContext(params);
      return;
    default:
      return;
  }
  draw();
}

// The variables of the host's style that the card's own style goes by.
const colors = [
  ...["primary", "secondary", "info", "danger", "success", "warning"].map((name) => `--color-background-${name}`),
  ...["primary", "secondary", "info", "danger", "success", "warning"].map((name) => `--color-text-${name}`),
  "--color-border-primary", "--color-ring-primary",
];
const shapes = ["--font-sans", "--font-mono", "--border-radius-sm", "--border-radius-md"];

function applyContext(context) {
  if (context.theme === "light" || context.theme === "dark") {
    root.dataset.theme = context.theme;
  }
  if (context.styles !== undefined) {
    applyStyles(object(object(context.styles).variables));
  }
  for (const [side, pixels] of Object.entries(object(context.safeAreaInsets))) {
    root.style.setProperty(`--inset-${side}`, `${Math.min(count(pixels), 200)}px`);
  }
  host.tool = text(object(object(context.toolInfo).tool).name) || host.tool;
}

// applyStyles takes the host's colors all together or not at all: some of them on
// ours need not be readable.
function applyStyles(variables) {
  const given = (name) => text(variables[name]).length > 0 && text(variables[name]).length <= 500 && !/url\s*\(|image/i.test(variables[name]);
  const taken = colors.every(given) ? [...colors, ...shapes] : shapes;
  for (const name of [...colors, ...shapes]) {
    root.style.removeProperty(name);
    if (taken.includes(name) && given(name)) {
      root.style.setProperty(name, variables[name]);
    }
  }
}

let reported = "";

// reportSize has the host give the card the room that it needs.
function reportSize() {
  const width = window.innerWidth;
  const height = Math.ceil(root.getBoundingClientRect().height);
  if (host.ready && reported !== `${width} ${height}`) {
    reported = `${width} ${height}`;
    post({ method: "ui/notifications/size-changed", params: { width, height } });
  }
}

const sizes = new ResizeObserver(reportSize);

// begin begins the dialogue. render makes the card's elements of the call.
async function begin(render) {
  draw = () => document.getElementById("card").replaceChildren(...drawn(render));
  window.addEventListener("message", receive);
  const answer = await ask("ui/initialize", {
    protocolVersion: "2026-01-26",
    appInfo: { name: "skills-mcp", title: document.title, version: "1" },
    appCapabilities: { availableDisplayModes: ["inline", "fullscreen"] },
  });
  host.ready = true;
  host.capabilities = object(answer.hostCapabilities);
  applyContext(object(answer.hostContext));
  draw();
  sizes.observe(root);
  post({ method: "ui/notifications/initialized", params: {} });
  reportSize();
}

// drawn is the card, or where its values are none that our server gives, what the
// model reads.
function drawn(render) {
  try {
    return render(call);
  } catch {
    return [output("Result", textOf(call.result))];
  }
}
