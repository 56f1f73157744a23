// LangChain's MCP adapter for JavaScript, driven by a Go test.
//
// The single argument is JSON: the adapter's connection to the server.
//
// On stdout, one JSON object a line: first {"tools": […]}; then, for each
// {"id", "calls": [{"tool", "input", "message"}]} line on stdin, {"id",
// "outcomes": […]}. The calls of a line are made at the same time; their
// outcomes are in the calls' order. A call with "message" is made as an agent
// makes it, with a tool call, and gives a tool message; one without is a plain
// invocation, which gives the content alone. The end of stdin closes the
// connection.

import { createInterface } from 'node:readline';
import { StructuredTool } from '@langchain/core/tools';
import { MultiServerMCPClient } from '@langchain/mcp-adapters';

const print = (message) => process.stdout.write(JSON.stringify(message) + '\n');
console.log = console.info = console.debug = console.error;

const client = new MultiServerMCPClient({
  mcpServers: { skills: JSON.parse(process.argv[2]) },
  useStandardContentBlocks: true,
});
const tools = await client.getTools();
print({
  tools: tools.map((tool) => ({
    name: tool.name,
    description: tool.description,
    structured: tool instanceof StructuredTool,
    schema: tool.schema,
  })),
});

async function call({ tool: name, input, message }, index) {
  const tool = tools.find((candidate) => candidate.name === name);
  try {
    if (!message) return { content: await tool.invoke(input) };
    const { content, artifact, status } = await tool.invoke({ type: 'tool_call', id: `call-${index}`, name, args: input });
    return { content, artifact, status };
  } catch (error) {
    return { error: { name: error.name, message: error.message } };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, calls } = JSON.parse(line);
  print({ id, outcomes: await Promise.all(calls.map(call)) });
}
await client.close();
