"""FastMCP's client, which stands on the second line of the official SDK."""

import contextlib

import mcp_types as types
from fastmcp import Client
from fastmcp.client.transports import SSETransport, StdioTransport, StreamableHttpTransport
from fastmcp.skills.client import SkillsClientExtension

from sdk2 import described
from subscriptions import Subscriptions
from transport import PATIENCE


def transport(plan):
    if "stdio" in plan:
        return StdioTransport(**plan["stdio"], keep_alive=False)
    return SSETransport(plan["sse"]) if "sse" in plan else StreamableHttpTransport(plan["http"])


@contextlib.asynccontextmanager
async def connect(plan, notified):
    client = Client(
        transport(plan), mode=plan["mode"], message_handler=notified, timeout=PATIENCE,
        extensions=[SkillsClientExtension()])
    async with client:
        yield described(client), methods(client)


def methods(client):
    def all_pages(fetch, field):
        async def listed(*_):
            return {field: [item.model_dump(mode="json", by_alias=True, exclude_none=True) for item in await fetch()]}
        return listed

    subscriptions = Subscriptions(client.session)
    return {
        "listTools": all_pages(client.list_tools, "tools"),
        "listResources": all_pages(client.list_resources, "resources"),
        "listResourceTemplates": all_pages(client.list_resource_templates, "resourceTemplates"),
        "listPrompts": all_pages(client.list_prompts, "prompts"),
        "readResource": lambda params, _: client.read_resource_mcp(params["uri"]),
        "getPrompt": lambda params, _: client.get_prompt_mcp(**params),
        "complete": lambda params, _: client.complete_mcp(types.ResourceTemplateReference(**params["ref"]), params["argument"]),
        "callTool": lambda params, progressed: client.call_tool_mcp(**params, progress_handler=progressed),
        "watch": subscriptions.watch,
        "unwatch": subscriptions.unwatch,
        "skills.list": all_pages(client.list_skills, "skills"),
    }
