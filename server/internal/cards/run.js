function render({ input, result }) {
  const program = programOf(object(input));
  if (!result) {
    return present(pending(program.kind, program.title), program.more);
  }
  const out = object(result.structuredContent);
  if (!text(out.status)) {
    return present(header(program.kind, program.title, badge("danger", "Not run")), program.more,
      result.isError ? refusal(refusalOf(result)) : output("Result", textOf(result)));
  }
  return present(
    header(program.kind, program.title, ending(out)),
    line(time(count(out.durationMs)), out.cpuMs ? `${time(count(out.cpuMs))} of processor time` : "",
      out.peakMemoryBytes ? `${bytes(count(out.peakMemoryBytes))} of memory` : "",
      [text(object(out.sandbox).backend), text(object(out.sandbox).tier)].filter(Boolean).join(", tier ")),
    program.more,
    out.error && out.status !== "declined" ? refusal(object(out.error)) : null,
    approval(object(out.approval)),
    text(out.stdout) ? output("Output", text(out.stdout)) : null,
    text(out.stderr) ? output("Errors", text(out.stderr)) : null,
    text(out.stdout) || text(out.stderr) || out.status !== "exited" ? null : element("p", "line", "It printed nothing."),
    fileList("Created files", list(out.artifacts).map(object), count(out.artifactsOmitted)),
    [out.changes, ...list(out.otherChanges)].filter(Boolean).map((set) => changeSet(object(set))),
    leftBehind(out),
    hostsOf(list(object(out.used).hosts).map(object), list(out.asked).map(object)),
    folded("Details", facts([
      ["Sandbox", text(object(out.sandbox).notice)], ["Project", projectOf(object(out.project))],
      ["Workspace", element("code", "", text(out.workspace))],
      ["Skill", text(out.skillDigest) ? element("code", "", text(out.skillDigest)) : ""],
    ])));
}

const maxTitleChars = 120;

// programOf says what was to be run: in the title, or below it where it is long.
function programOf(input) {
  const kind = text(input.name) ? `Run · ${input.name}` : "Run";
  const words = [text(input.script) || text(input.program), ...list(input.args).map(quoted)].filter(Boolean).join(" ");
  const whole = text(input.command) || words;
  if (whole && whole.length <= maxTitleChars && !whole.includes("\n")) {
    return { kind, title: element("code", "", whole), more: stdinOf(input) };
  }
  if (whole) {
    return { kind, title: input.command ? "Shell command" : element("code", "", text(input.script) || text(input.program)), more: [output("Command", whole), stdinOf(input)] };
  }
  const tool = text(input.tool) || host.tool;
  const given = text(input.tool) ? object(input.input) : input;
  return { kind, title: element("code", "", tool || "program"), more: Object.keys(given).length > 0 ? output("Input", JSON.stringify(given, null, 2)) : null };
}

function quoted(argument) {
  return /^[\w@%+=:,./-]+$/.test(argument) ? argument : JSON.stringify(text(argument));
}

function stdinOf(input) {
  return text(input.stdin) ? folded("Standard input", output("", input.stdin)) : null;
}

// ending is how the program ended.
function ending(out) {
  if (out.status !== "exited") {
    return badge("danger", { declined: "Not allowed", signaled: `Signal ${text(out.signal)}` }[out.status] ?? text(out.status).replaceAll("_", " "));
  }
  return badge(out.exitCode === 0 && !out.error ? "success" : "danger", `Exit ${out.exitCode}`);
}

function approval(answer) {
  if (!text(answer.answer)) {
    return null;
  }
  const scope = { once: "this once", session: "for this session", always: "always" }[answer.scope];
  return notice(answer.answer === "allowed" ? "info" : "danger", answer.answer === "allowed" ? `You allowed it ${scope ?? ""}.` : `You ${answer.answer} it.`,
    text(answer.notice) ? ` ${answer.notice}` : "");
}

function projectOf(project) {
  return [text(project.path), text(project.access), text(project.reason)].filter(Boolean).join(" · ");
}

function leftBehind(out) {
  const names = list(out.leftBehind).map(text);
  return names.length === 0 ? null : notice("warning", `Ended with the program, since they still ran: ${names.join(", ")}`);
}

// hostsOf has the hosts that the program spoke with, or was to, and what was asked
// about them.
function hostsOf(hosts, asked) {
  return hosts.length + asked.length === 0 ? null : element("section", "", element("h2", "", "Network"), element("ul", "files", hosts.map((used) => element("li", "",
    element("div", "row", element("code", "path", `${text(used.host)}:${count(used.port)}`),
      badge(used.refused ? "danger" : "success", used.refused ? `${counted(count(used.refused), "request")} refused` : counted(count(used.requests), "request")),
      element("span", "size", bytes(count(used.bytes)))), text(used.reason) ? notice("warning", text(used.reason)) : null))),
  asked.map((about) => notice(about.answer === "allowed" ? "info" : "warning", element("code", "", text(about.host)), ` ${text(about.answer)}. ${text(about.notice)}`)));
}
