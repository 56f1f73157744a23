// Elements that cards are made of. Texts become text nodes, each as it is shown.

function element(name, kind, ...children) {
  const made = document.createElement(name);
  if (kind) {
    made.className = kind;
  }
  made.append(...children.flat(3).filter((child) => child !== null && child !== undefined).map((child) => (child instanceof Node ? child : shown(child))));
  return made;
}

function badge(tone, label) {
  return element("span", `badge ${tone}`, label);
}

function header(kind, title, ...badges) {
  return element("header", "", element("div", "titles", element("p", "kind", kind), element("h1", "", title)), element("div", "badges", badges));
}

// line is one of small facts.
function line(...facts) {
  const some = facts.filter(Boolean);
  return some.length === 0 ? null : element("p", "line", some.map((fact) => element("span", "", fact)));
}

// facts are names and what there is of each; those of nothing are left out.
function facts(pairs) {
  const some = pairs.filter(([, value]) => value instanceof Node || list(value).length > 0 || text(value) !== "");
  return some.length === 0 ? null : element("dl", "", some.flatMap(([name, value]) => [
    element("dt", "", name), element("dd", "", Array.isArray(value) ? chips(value) : value),
  ]));
}

function chips(values) {
  return values.map((value) => element("code", "chip", text(value)));
}

function notice(tone, ...children) {
  return element("p", `notice ${tone}`, children);
}

// refusal is what a tool says instead of an answer.
function refusal(error) {
  return element("div", "notice danger", element("p", "", text(error.code) ? [element("code", "", text(error.code)), ": "] : null, text(error.message)),
    text(error.hint) ? element("p", "hint", text(error.hint)) : null);
}

// scrolling is a part that has bars of its own where it is too long or too wide.
function scrolling(label, child) {
  const made = element("div", "scroll", child);
  made.tabIndex = 0;
  made.setAttribute("role", "region");
  made.setAttribute("aria-label", shown(label));
  return made;
}

// output is a text as it was written.
function output(label, raw) {
  const cut = raw.length > maxShownChars ? notice("info", `The first ${maxShownChars.toLocaleString("en")} characters are shown.`) : null;
  return element("section", "", label ? element("h2", "", label) : null, scrolling(label || "Text", element("pre", "", raw)), cut);
}

function folded(label, ...children) {
  return element("details", "", element("summary", "", label), children);
}

// late is folded, and made when it is first unfolded.
function late(label, make) {
  const body = element("div", "", notice("info", "Loading…"));
  const made = folded(label, body);
  made.addEventListener("toggle", async () => {
    try {
      body.replaceChildren(await make());
    } catch (error) {
      body.replaceChildren(notice("danger", "It cannot be shown: ", error.message));
    }
  }, { once: true });
  return made;
}

// pending is a card whose call has not been answered.
function pending(kind, title) {
  return [header(kind, title, call.cancelled === null ? badge("info", "Running") : badge("warning", "Cancelled")),
    call.cancelled ? notice("warning", call.cancelled) : null].filter(Boolean);
}

function present(...children) {
  return children.flat(3).filter((child) => child !== null && child !== undefined);
}

// refusalOf returns why a result is none.
function refusalOf(result) {
  const error = object(object(result._meta).error);
  return text(error.code) ? error : { message: textOf(result) };
}
