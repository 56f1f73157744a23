"""LangChain's MCP adapter for Python, driven by a Go test.

The arguments are the adapter's connection to the server, as JSON, and "one"
or "each": one session for all calls, in an asynchronous program, or one for
each call, in a synchronous program that starts an event loop when it calls.

On stdout, one JSON object a line: first {"tools": […]}; then, for each {"id",
"calls": [{"tool", "input", "message"}]} line on stdin, {"id", "outcomes":
[…]}. The calls of a line are made at the same time; their outcomes are in the
calls' order. A call with "message" is made as an agent makes it, with a tool
call, and gives a tool message; one without is a plain invocation, which gives
the content alone. The end of stdin closes the connection.
"""

import asyncio
import json
import sys

from langchain_core.tools import StructuredTool
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.tools import load_mcp_tools


def write(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def show(tools):
    write({"tools": [
        {
            "name": tool.name,
            "description": tool.description,
            "structured": isinstance(tool, StructuredTool),
            "schema": tool.args_schema,
        }
        for tool in tools
    ]})


async def call(tool, index, request):
    arguments = request["input"]
    try:
        if not request.get("message"):
            return {"content": await tool.ainvoke(arguments)}
        message = await tool.ainvoke(
            {"type": "tool_call", "id": f"call-{index}", "name": tool.name, "args": arguments})
        return {"content": message.content, "artifact": message.artifact, "status": message.status}
    except Exception as error:  # Whatever it is, the test wants to see it.
        return {"error": {"name": type(error).__name__, "message": str(error)}}


async def answer(tools, line):
    request = json.loads(line)
    by_name = {tool.name: tool for tool in tools}
    calls = [call(by_name[one["tool"]], index, one) for index, one in enumerate(request["calls"])]
    write({"id": request["id"], "outcomes": await asyncio.gather(*calls)})


async def one_session(client):
    async with client.session("skills") as session:
        tools = await load_mcp_tools(session)
        show(tools)
        while line := await asyncio.to_thread(sys.stdin.readline):
            await answer(tools, line)


def session_for_each_call(client):
    tools = asyncio.run(client.get_tools())
    show(tools)
    for line in sys.stdin:
        asyncio.run(answer(tools, line))


def main():
    client = MultiServerMCPClient({"skills": json.loads(sys.argv[1])})
    if sys.argv[2] == "one":
        asyncio.run(one_session(client))
    else:
        session_for_each_call(client)


main()
