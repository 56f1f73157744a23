// Unified diffs, a line each. What a line is depends on where it stands: a removed
// line may look like the head of a file.

const maxDiffLines = 3000;

function diff(name, raw) {
  const lines = raw.slice(0, maxShownChars).split("\n");
  if (lines.at(-1) === "") {
    lines.pop();
  }
  let before = 0; // lines that are left of the hunk
  let after = 0;
  const kindOf = (content) => {
    const hunk = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(content);
    if (before <= 0 && after <= 0) {
      if (hunk) {
        before = Number(hunk[1] ?? 1);
        after = Number(hunk[2] ?? 1);
        return "hunk";
      }
      return content.startsWith("diff ") ? "file" : "head";
    }
    switch (content[0]) {
      case "+":
        after--;
        return "added";
      case "-":
        before--;
        return "removed";
      case "\\":
        return "head";
      default:
        before--;
        after--;
        return "same";
    }
  };
  const shownLines = lines.slice(0, maxDiffLines).map((content) => element("span", kindOf(content), content));
  const cut = lines.length > maxDiffLines || raw.length > maxShownChars;
  return element("section", "", scrolling(name, element("pre", "diff", shownLines)),
    cut ? notice("info", `The first ${counted(shownLines.length, "line")} are shown.`) : null);
}
