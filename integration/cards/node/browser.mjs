// Drives one browser by orders on standard input, a JSON object a line, each with an
// id, a method and what that needs; answers come on standard output. Its page is a
// host with one card in it: host.html frames proxy.html, which is of another origin
// and frames the card. What a card reads of the server is asked for on standard
// output ({"read": URI, "token": N}) and answered by an order of the same token.
//
// Nothing is reached: every request but those of the two pages is refused, and told.
import { readFileSync } from "node:fs";
import readline from "node:readline";
import { chromium } from "playwright-core";

const file = (name) => readFileSync(new URL(name, import.meta.url), "utf8");

// The policy is what the extension has hosts enforce where a card declares nothing.
const policy = "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
  "media-src 'self' data:; connect-src 'none'; object-src 'none'; base-uri 'self'";
const pages = {
  "http://host.test/": { contentType: "text/html", body: file("host.html") },
  "http://proxy.test/": { contentType: "text/html", body: file("proxy.html"), headers: { "Content-Security-Policy": policy } },
};

const browser = await chromium.launch({
  executablePath: process.argv[2],
  args: ["--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-features=IsolateOrigins,IsolateSandboxedIframes,site-per-process", "--disable-site-isolation-trials"], // a process is enough
});
const page = await (await browser.newContext()).newPage();
const reads = new Map(); // what answers cards, by tokens
let seen; // of the card that is shown
let shown; // as the host is told
let last = 0;

const tell = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);

await page.route("**/*", (route) => {
  const known = pages[route.request().url()];
  if (!known) {
    seen.requests.push(route.request().url());
  }
  return known ? route.fulfill(known) : route.abort();
});
page.on("console", (message) => {
  if (!message.text().startsWith("An iframe which has both allow-scripts and allow-same-origin")) { // as the extension has the proxy
    seen.console.push(message.text());
  }
});
page.on("pageerror", (error) => seen.console.push(String(error)));
await page.exposeFunction("readOfServer", (uri) => new Promise((resolve) => {
  reads.set(++last, resolve);
  tell({ read: uri, token: last });
}));
await page.exposeFunction("toShow", () => shown);
await page.addInitScript(() => {
  window.violations = [];
  document.addEventListener("securitypolicyviolation", (event) => window.violations.push(event.violatedDirective));
});

const card = () => page.frames().find((frame) => frame.parentFrame()?.parentFrame());
const height = 900;

const orders = {
  open: async ({ show, width, scheme }) => {
    seen = { requests: [], console: [] };
    shown = show;
    await page.emulateMedia({ colorScheme: scheme });
    await page.setViewportSize({ width, height });
    await page.goto("http://host.test/");
  },
  // eval evaluates in the card, evalHost in the host.
  eval: ({ script }) => card().evaluate(script),
  evalHost: ({ script }) => page.evaluate(script),
  // until waits for something to become true in the card.
  until: async ({ script }) => {
    for (const deadline = Date.now() + 30000; ; await new Promise((resolve) => setTimeout(resolve, 10))) {
      const found = await card()?.evaluate(script).catch(() => false);
      if (found) {
        return found;
      }
      if (Date.now() > deadline) {
        throw new Error(`never so: ${script}`);
      }
    }
  },
  seen: () => seen,
  resize: ({ width }) => page.setViewportSize({ width, height }),
  shot: async ({ path }) => {
    const { width } = page.viewportSize();
    await page.setViewportSize({ width, height: await page.evaluate("document.body.offsetHeight") });
    await page.screenshot({ path });
    await page.setViewportSize({ width, height });
  },
  answer: ({ token, answer }) => reads.get(token)(answer),
};

for await (const line of readline.createInterface({ input: process.stdin })) {
  const order = JSON.parse(line);
  Promise.resolve().then(() => orders[order.method](order)).then(
    (result) => tell({ id: order.id, result: result ?? null }),
    (error) => tell({ id: order.id, error: String(error) }));
}
await browser.close();
