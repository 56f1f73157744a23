// Runs the conformance suite's command line, once for each line of stdin and in one
// process: most that one run of its own would do is to load the suite.
//
// argv:   the suite's script.
// stdin:  a line for each run, a JSON array of the arguments.
// stdout: a line for each run once it ends, {"code": …, "output": …}.

import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const [interpreter, , script] = process.argv;
const answer = process.stdout.write.bind(process.stdout);
const exit = process.exit.bind(process);
const ended = new Error('the run has ended');

let output = '';
let end = () => {}; // takes the exit code of the run
for (const stream of [process.stdout, process.stderr]) {
  stream.write = (chunk) => {
    output += chunk;
    return true;
  };
}
process.exit = (code) => {
  end(code ?? process.exitCode ?? 0);
  throw ended;
};
for (const fault of ['unhandledRejection', 'uncaughtException']) {
  process.on(fault, (error) => {
    if (error === ended) return;
    console.error(error);
    end(1);
  });
}

let runs = 0;
for await (const line of createInterface({ input: process.stdin })) {
  output = '';
  process.argv = [interpreter, script, ...JSON.parse(line)];
  const code = await new Promise((resolve) => {
    end = resolve;
    // With another name its state is new, and what it imports is there already.
    import(`${pathToFileURL(script)}?${runs++}`).catch(() => {});
  });
  answer(JSON.stringify({ code, output }) + '\n');
}
exit(0);
