// Has modules find packages as require() does by NODE_PATH: those of the
// environment, where there are none nearer.
"use strict";
const module_ = require("node:module");
const { pathToFileURL } = require("node:url");
const path = require("node:path");

const parentURL = pathToFileURL(path.join(__dirname, "..", "node", "lib", "resolve.js")).href;
const named = (specifier) => !/^(?:\.{0,2}\/|[a-z][a-z0-9+.-]*:|#)/i.test(specifier);

if (module_.registerHooks) {
  module_.registerHooks({
    resolve(specifier, context, next) {
      try {
        return next(specifier, context);
      } catch (error) {
        if (!named(specifier)) throw error;
        try {
          return next(specifier, { ...context, parentURL });
        } catch {
          throw error;
        }
      }
    },
  });
} else if (module_.register) {
  const hook = `const parentURL = ${JSON.stringify(parentURL)};
export async function resolve(specifier, context, next) {
  try { return await next(specifier, context); } catch (error) {
    if (!(${named})(specifier)) throw error;
    try { return await next(specifier, { ...context, parentURL }); } catch { throw error; }
  }
}`;
  module_.register("data:text/javascript," + encodeURIComponent(hook));
}
