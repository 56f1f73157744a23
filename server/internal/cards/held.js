// What is held of the user's files.

const typeOfImage = { png: "image/png", jpg: "image/jpeg", jpeg: "image/jpeg", webp: "image/webp", gif: "image/gif" };

function changeURI(id, path) {
  return `changes://${id}/${path.split("/").map(encodeURIComponent).join("/")}`;
}

function changeRow(change, id) {
  const path = text(change.path);
  const label = [badge({ added: "success", deleted: "danger" }[change.kind] ?? "info", text(change.kind)), element("code", "path", path),
    change.type === "file" && change.kind !== "deleted" ? element("span", "size", bytes(count(change.size))) : null];
  const conflict = text(change.conflict) ? notice("warning", text(change.conflict)) : null;
  const mime = typeOfImage[path.split(".").at(-1).toLowerCase()];
  if (id && canRead() && mime && change.type === "file" && change.kind !== "deleted" && previewed(mime, count(change.size))) {
    return element("li", "", late(label, async () => contentsOf(path, await readResource(changeURI(id, path)))), conflict);
  }
  return element("li", "", element("div", "row", label), conflict);
}

function changeList(title, changes, omitted, id) {
  if (changes.length === 0 && !omitted) {
    return null;
  }
  return element("section", "", element("h2", "", title), element("ul", "files", changes.map((change) => changeRow(object(change), id))),
    omitted ? notice("info", `${omitted} more are not listed.`) : null);
}

// reasonList has what was not done, and why.
function reasonList(title, tone, refusals, omitted) {
  if (refusals.length === 0 && !omitted) {
    return null;
  }
  return element("section", "", element("h2", "", title), element("ul", "files", refusals.map((refused) => element("li", "",
    element("div", "row", element("code", "path", text(object(refused).path))), notice(tone, text(object(refused).reason))))),
  omitted ? notice("info", `${omitted} more are not listed.`) : null);
}

function undoNote(id) {
  return id ? notice("info", "Take it back with ", element("code", "", `skills-mcp undo ${id}`)) : null;
}

// changeSet shows what is held of one directory, and what became of the rest.
function changeSet(set) {
  const id = text(set.id);
  const held = list(set.held);
  const total = held.length + count(set.heldOmitted);
  return element("section", "set",
    text(set.fault) ? notice("danger", text(set.fault)) : null,
    changeList(`Applied to ${text(set.of)}`, list(set.applied), count(set.appliedOmitted), ""),
    undoNote(text(set.undo)),
    reasonList("Conflicts, left as you have them", "warning", list(set.conflicts), count(set.conflictsOmitted)),
    total === 0 ? null : changeList(`${counted(total, "change")} held, not in ${text(set.of)} yet`, held, count(set.heldOmitted), id),
    total > 0 && canRead() ? late("Diff", async () => diff("Diff", text((await readResource(`changes://${id}`)).text))) : null,
    reasonList("Refused", "danger", list(set.refused), count(set.refusedOmitted)),
    total > 0 ? notice("info", "To apply: ask for it here, or ", element("code", "", `skills-mcp apply ${id}`)) : null);
}
