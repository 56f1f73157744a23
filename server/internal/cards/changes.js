function render({ input, result }) {
  const asked = text(object(input).path) || text(object(input).changes);
  if (!result) {
    return pending("Changes", asked);
  }
  const out = object(result.structuredContent);
  if (result.isError || !result.structuredContent) {
    return present(header("Changes", asked, badge("danger", "Not done")), refusal(refusalOf(result)));
  }
  return out.file ? written(out) : applied(out);
}

// written is the card of a tool that wrote one file.
function written(out) {
  const file = object(out.file);
  const held = file.source !== "workspace" && object(out.changes).held;
  return present(
    header("File", text(file.filename), held ? badge("warning", "Held") : badge("success", "Written")),
    line(text(file.mimeType), bytes(count(file.size)), text(file.source)),
    [out.changes, ...list(out.otherChanges)].filter(Boolean).map((set) => changeSet(object(set))));
}

// applied is the card of the tool that applies what is held.
function applied(out) {
  const done = list(out.applied).length + count(out.appliedOmitted);
  const stayed = list(out.conflicts).length + list(out.refused).length;
  return present(
    header("Changes", text(out.of), outcome(out, done, stayed)),
    text(out.declined) ? notice("warning", text(out.declined)) : null,
    changeList("Applied", list(out.applied), count(out.appliedOmitted), ""),
    undoNote(text(out.undo)),
    reasonList("Conflicts, left as you have them", "warning", list(out.conflicts), count(out.conflictsOmitted)),
    reasonList("Refused", "danger", list(out.refused), count(out.refusedOmitted)),
    out.remaining ? changeSet(object(out.remaining)) : null);
}

function outcome(out, done, stayed) {
  if (text(out.declined)) {
    return badge("warning", "Not allowed");
  }
  if (out.discarded) {
    return badge("info", "Discarded");
  }
  return badge(stayed > 0 ? "warning" : "success", `${done.toLocaleString("en")} applied`);
}
