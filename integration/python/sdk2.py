"""The second line of the official SDK."""

import contextlib

import mcp_types as types
from mcp import Client

from subscriptions import Subscriptions
from transport import transport


@contextlib.asynccontextmanager
async def connect(plan, notified):
    async def answered(_, params):
        return types.ElicitResult(action="accept", content={"answer": plan["answers"].pop(0)})

    async with Client(
        transport(plan), mode=plan["mode"], message_handler=notified, cache=None,
        elicitation_callback=answered if plan.get("answers") else None,
    ) as client:
        yield described(client), methods(client)


def described(client):
    return {
        "server": client.server_info.model_dump(),
        "instructions": client.instructions,
        "revision": client.protocol_version,
    }


def methods(client):
    subscriptions = Subscriptions(client.session)
    return {
        "listTools": lambda params, _: client.list_tools(**params),
        "listResources": lambda params, _: client.list_resources(**params),
        "listResourceTemplates": lambda params, _: client.list_resource_templates(**params),
        "listPrompts": lambda params, _: client.list_prompts(**params),
        "readResource": lambda params, _: client.read_resource(params["uri"]),
        "getPrompt": lambda params, _: client.get_prompt(**params),
        "complete": lambda params, _: client.complete(types.ResourceTemplateReference(**params["ref"]), params["argument"]),
        "callTool": lambda params, progressed: client.call_tool(**params, progress_callback=progressed),
        "watch": subscriptions.watch,
        "unwatch": subscriptions.unwatch,
    }
