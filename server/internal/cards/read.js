function render({ input, result }) {
  const path = text(object(result?._meta).path) || text(object(input).path);
  const skill = text(object(input).name);
  const from = skill ? `File · ${skill}` : "File";
  if (!result) {
    return pending(from, path);
  }
  if (result.isError) {
    return present(header(from, path, badge("danger", "Not read")), refusal(refusalOf(result)));
  }
  const meta = object(result._meta);
  const blocks = list(result.content).map(object);
  if (meta.mime === "inode/directory") {
    return present(header("Directory", path === "." && skill ? `${skill}/` : path, meta.truncated ? badge("warning", "In part") : null), output("", textOf(result)));
  }
  const offset = count(object(input).offset);
  const part = meta.truncated || offset > 0;
  return present(
    header(from, path, part ? badge("warning", "In part") : null),
    line(text(meta.mime), meta.size === undefined ? "" : bytes(count(meta.size)), page(meta, offset)),
    blocks.map((block, place) => shownBlock(block, place, path, { ...meta, offset })));
}

// page says which part of a file there is.
function page(meta, offset) {
  if (!meta.nextOffset && !offset) {
    return "";
  }
  const end = count(meta.nextOffset) || count(meta.size);
  return `bytes ${offset.toLocaleString("en")} to ${end.toLocaleString("en")}`;
}

// shownBlock shows a part of the answer: the first is the file, texts after it are
// the server's notices.
function shownBlock(block, place, path, meta) {
  switch (block.type) {
    case "text":
      if (place > 0) {
        return notice("info", text(block.text));
      }
      if (images.includes(meta.mime)) {
        return null; // its name, which the title has
      }
      // Of tables and diffs only the beginning is one, and view numbers the lines.
      return meta.mime && !meta.offset ? textFile(path, text(meta.mime), text(block.text)) : output("", text(block.text));
    case "image":
      return images.includes(block.mimeType) ? image(path, block.mimeType, text(block.data)) : notice("info", "It is no image that is shown.");
    case "resource":
      return contentsOf(path, object(block.resource));
    case "resource_link":
      return element("ul", "files", fileRow(text(block.name), text(block.mimeType), count(meta.size), text(block.uri)));
    default:
      return null;
  }
}
