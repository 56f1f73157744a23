// Stands in for npm and npx where packages were prepared once and cannot be
// changed: what is asked for and is there is said to be there, and programs of
// packages are run; for what is not there it says what to do. All else is for npm
// itself, which is offline.
"use strict";
const { spawnSync } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");

const [called, ...args] = process.argv.slice(2);
const packages = path.join(__dirname, "..", "node", "lib", "node_modules");
const missing =
  "Not all of this is among the packages that were prepared for this skill, and programs cannot install any: " +
  "the user prepares what a skill's files ask for with `skills-mcp prepare`.";

function stop(text) {
  process.stderr.write(text + "\n");
  process.exit(1);
}

function run(program, rest, env = process.env) {
  const done = spawnSync(program, rest, { stdio: "inherit", env });
  if (done.error) stop(`${called}: ${program} cannot be run: ${done.error.message}`);
  if (done.signal) process.kill(process.pid, done.signal);
  process.exit(done.status);
}

// The environment has options of Node.js, which its programs need again.
const withOptions = { ...process.env, NODE_OPTIONS: "--require=" + quoted(path.join(__dirname, "resolve.cjs")) };

function quoted(name) {
  return /[ "\\]/.test(name) ? JSON.stringify(name) : name;
}

// npm itself: the next of that name on the PATH.
function real(name) {
  for (const dir of process.env.PATH.split(path.delimiter)) {
    const file = path.join(dir, name);
    if (path.resolve(dir) !== __dirname && fs.existsSync(file)) return file;
  }
  stop(`${called}: there is no ${name} in the sandbox`);
}

function manifest(name) {
  try {
    return JSON.parse(fs.readFileSync(path.join(packages, name, "package.json"), "utf8"));
  } catch {
    return null;
  }
}

// Whether a range of versions holds a version, as npm itself says; null where
// that is not known.
function within(version, range) {
  if (["", "*", "latest", version].includes(range)) return true;
  try {
    const npm = fs.realpathSync(real("npm"));
    const semver = require(require.resolve("semver", { paths: [path.dirname(npm)] }));
    return semver.validRange(range) ? semver.satisfies(version, range) : null;
  } catch {
    return null;
  }
}

function there(spec) {
  const at = spec.indexOf("@", 1);
  const name = at < 0 ? spec : spec.slice(0, at);
  const found = /^(@[\w.~-]+\/)?[\w.~-]+$/.test(name) && name !== ".." && name !== "." ? manifest(name) : null;
  if (!found) return null;
  return within(found.version, at < 0 ? "" : spec.slice(at + 1)) ? { name, found } : null;
}

function install(specs) {
  if (specs.length === 0) {
    let wanted;
    try {
      wanted = JSON.parse(fs.readFileSync("package.json", "utf8"));
    } catch {
      stop(`${called}: there is no package.json here that can be read`);
    }
    specs = Object.entries({ ...wanted.dependencies, ...wanted.devDependencies }).map(([name, range]) => `${name}@${range}`);
  }
  const absent = specs.filter((spec) => !there(spec));
  if (absent.length > 0) stop(`${called}: not there: ${absent.join(", ")}\n${missing}`);
  const found = specs.map((spec) => there(spec)).map(({ name, found }) => `${name}@${found.version}`);
  console.log(`Already there, among the packages that were prepared for this skill: ${found.join(", ") || "nothing was asked for"}.`);
}

// The file of a program that a package has.
function programOf({ name, found }, wanted) {
  const bin = typeof found.bin === "string" ? { [name.split("/").pop()]: found.bin } : found.bin || {};
  const names = Object.keys(bin);
  const chosen = wanted || (names.length === 1 ? names[0] : names.find((n) => n === name.split("/").pop()));
  return chosen && bin[chosen] ? path.join(packages, ".bin", path.basename(chosen)) : null;
}

function execute(rest) {
  const wanted = [];
  let command = null;
  while (rest.length > 0 && rest[0].startsWith("-")) {
    const option = rest.shift();
    if (option === "--") break;
    const [name, value] = option.split(/=(.*)/s);
    if (name === "-p" || name === "--package") wanted.push(value ?? rest.shift() ?? "");
    if (name === "-c" || name === "--call") command = value ?? rest.shift() ?? "";
  }
  const absent = wanted.filter((spec) => !there(spec));
  if (absent.length > 0) stop(`${called}: not there: ${absent.join(", ")}\n${missing}`);
  if (command !== null) run("/bin/sh", ["-c", command], withOptions);
  if (rest.length === 0) stop(`${called}: there is no command`);
  const spec = rest.shift();
  if (rest[0] === "--") rest.shift();
  const own = path.join(packages, ".bin", path.basename(spec));
  if (!spec.includes("/") && !spec.includes("@") && fs.existsSync(own)) run(own, rest, withOptions);
  const found = there(spec);
  const program = found && programOf(found);
  if (program && fs.existsSync(program)) run(program, rest, withOptions);
  const local = path.join("node_modules", ".bin", path.basename(spec));
  if (!spec.includes("/") && fs.existsSync(local)) run(path.resolve(local), rest, withOptions);
  stop(`${called}: there is no program ${spec}. ${missing}`);
}

const command = args.find((argument) => !argument.startsWith("-"));
if (called === "npx") execute([...args]);
else if (["install", "i", "add", "ci"].includes(command)) {
  const valued = new Set(["--registry", "--prefix", "-C", "--cache", "--loglevel", "--workspace", "-w", "--tag", "--before"]);
  const rest = args.filter((argument) => argument !== command);
  install(rest.filter((argument, i) => !argument.startsWith("-") && !valued.has(rest[i - 1])));
} else if (["exec", "x"].includes(command)) execute(args.slice(args.indexOf(command) + 1));
else run(real("npm"), args, withOptions);
