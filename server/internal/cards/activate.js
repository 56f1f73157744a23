function render({ input, result }) {
  const asked = text(object(input).name);
  if (!result) {
    return pending("Skill", asked);
  }
  const meta = object(result._meta);
  if (result.isError) {
    return present(header("Skill", asked, badge("danger", "Not activated")), refusal(refusalOf(result)));
  }
  const front = object(meta.frontmatter);
  const card = object(meta.card);
  return present(
    header("Skill", text(front.name) || asked, meta.truncated ? badge("warning", "Shown in part") : badge("success", "Activated")),
    text(front.description) ? element("p", "lead", text(front.description)) : null,
    meta.truncated ? notice("warning", `The instructions go on at byte ${count(meta.nextOffset).toLocaleString("en")}.`) : null,
    facts([
      ["Directory", text(card.baseDirectory) ? element("code", "", text(card.baseDirectory)) : ""],
      ["Allowed", allowed(object(meta.grants).allowedTools, card.notEnforced)],
      ["Programs", text(card.unavailable) ? `Off. ${text(card.unavailable)}` : text(card.sandbox)],
      ["Compatibility", text(front.compatibility)],
      ["License", text(front.license)],
    ]),
    granted(object(meta.grants)),
    filesOf(list(card.files).map(object), text(meta.entryPath), card.filesOmitted),
    toolsOf(list(meta.tools).map(object)),
    folded("What the model reads", output("", textOf(result))));
}

// allowed says what the skill's author lets it do.
function allowed(tools, notEnforced) {
  if (!Array.isArray(tools)) {
    return "Everything that you allow";
  }
  const rest = notEnforced ? "Anything else is logged." : "Anything else is denied.";
  return element("span", "", tools.length > 0 ? chips(tools) : "Nothing.", " ", rest);
}

// granted has what the user granted to the skill.
function granted(grants) {
  const made = facts([
    ["Network", list(grants.network)], ["Secrets", list(grants.secrets)], ["Plain secrets", list(grants.plainSecrets)],
    ["Packages", text(grants.packages)], ["Files", list(grants.show)],
  ]);
  const withheld = list(grants.withheld).map((sentence) => notice("warning", text(sentence)));
  return made || withheld.length > 0 ? element("section", "", element("h2", "", "Granted by you"), made, withheld) : null;
}

function filesOf(files, entry, more) {
  if (files.length === 0) {
    return null;
  }
  const rows = files.map((file) => element("li", "", element("div", "row",
    element("code", "path", text(file.path)), file.path === entry ? badge("info", "instructions") : null,
    element("span", "size", bytes(count(file.size))))));
  return folded(`${counted(files.length, "file")}${more ? " and more" : ""}`, element("ul", "files", rows));
}

function toolsOf(tools) {
  if (tools.length === 0) {
    return null;
  }
  return folded(counted(tools.length, "tool"), tools.map((tool) => element("section", "", element("h2", "", element("code", "", text(tool.name))),
    element("p", "", text(tool.description)), output("", JSON.stringify(object(tool.inputSchema), null, 2)))));
}

