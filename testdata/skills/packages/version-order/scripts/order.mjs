// Prints version numbers in order.
import semver from "semver";

const versions = process.argv.slice(2);
const wrong = versions.filter((version) => !semver.valid(version));
if (versions.length === 0 || wrong.length > 0) {
  console.error(wrong.length > 0 ? `no versions: ${wrong.join(", ")}` : "usage: order.mjs VERSION...");
  process.exit(1);
}
for (const version of semver.sort(versions)) console.log(version);
