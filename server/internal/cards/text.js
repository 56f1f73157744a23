// Texts that others wrote, as people see them: all of what there is, and nothing that
// hides or reorders the rest.

const maxShownChars = 200000;

// What shows nothing itself: control characters, overrides of the direction of
// writing, zero-width spaces, tags. Joiners stay: scripts and emoji need them.
const invisible = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu;

// shown returns a text with marks in the place of what is invisible. Colors of
// terminals are left out, with which nothing is lost.
function shown(raw) {
  return String(raw).slice(0, maxShownChars).replace(/\r\n/g, "\n").replace(/\u001b\[[0-9;:]*m/g, "").replace(invisible, mark).toWellFormed();
}

function mark(char) {
  return `\\u{${char.codePointAt(0).toString(16)}}`;
}

// textOf returns the texts of a result, which are what the model reads.
function textOf(result) {
  return list(object(result).content).filter((block) => object(block).type === "text").map((block) => text(block.text)).join("\n");
}

function bytes(size) {
  if (size < 1000) {
    return `${size} B`;
  }
  return size < 1e6 ? `${(size / 1e3).toFixed(1)} kB` : `${(size / 1e6).toFixed(1)} MB`;
}

function time(milliseconds) {
  return milliseconds < 1000 ? `${milliseconds} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}

function counted(number, noun) {
  return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}
