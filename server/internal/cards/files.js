// Files, by what they hold.

const images = ["image/png", "image/jpeg", "image/webp", "image/gif"]; // none that has scripts or links

function separatorOf(name, mime) {
  if (mime === "text/csv" || /\.csv$/i.test(name)) {
    return ",";
  }
  return mime === "text/tab-separated-values" || /\.tsv$/i.test(name) ? "\t" : "";
}

function image(name, mime, data) {
  if (data.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(data)) {
    return notice("warning", "It is no image that can be shown.");
  }
  const made = document.createElement("img");
  made.alt = shown(name);
  made.src = `data:${mime};base64,${data}`;
  made.addEventListener("error", () => made.replaceWith(notice("warning", "It is no image that can be shown.")), { once: true });
  return element("figure", "", made);
}

// textFile shows a text by its name and media type.
function textFile(name, mime, raw) {
  if (mime === "text/x-diff") {
    return diff(name, raw);
  }
  const separator = separatorOf(name, mime);
  return separator ? table(name, raw, separator) : output("", raw);
}

// contentsOf shows what a resource holds.
function contentsOf(name, contents) {
  const mime = text(contents.mimeType);
  if (typeof contents.text === "string") {
    return textFile(name, mime, contents.text);
  }
  return images.includes(mime) ? image(name, mime, contents.blob) : notice("info", "It is binary, and not shown.");
}

// previewed reports whether a file is one that cards show.
function previewed(mime, size) {
  return (images.includes(mime) && size <= 4 << 20) || (/^(text\/|application\/(json|xml|yaml))/.test(mime) && size <= 1 << 20);
}

// fileRow is a file with its size; the host reads it where it is unfolded.
function fileRow(name, mime, size, uri) {
  const label = [element("code", "path", name), element("span", "size", bytes(size))];
  return canRead() && uri && previewed(mime, size)
    ? element("li", "", late(label, async () => contentsOf(name, await readResource(uri))))
    : element("li", "", element("div", "row", label));
}

// fileList has the files that a run made.
function fileList(title, files, omitted) {
  if (files.length === 0 && !omitted) {
    return null;
  }
  return element("section", "", element("h2", "", title), element("ul", "files", files.map((file) =>
    fileRow(text(file.filename), text(file.mimeType), count(file.size), text(file.id)))),
  omitted ? notice("info", `${omitted} more are not listed.`) : null);
}
