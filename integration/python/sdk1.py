"""The first line of the official SDK, which knows the initialize handshake."""

import contextlib

from mcp import ClientSession, types

from transport import transport


@contextlib.asynccontextmanager
async def connect(plan, notified):
    async with transport(plan) as (read, write, *_), ClientSession(read, write, message_handler=notified) as session:
        server = await session.initialize()
        yield {
            "server": server.serverInfo.model_dump(),
            "instructions": server.instructions,
            "revision": server.protocolVersion,
        }, methods(session)


def methods(session):
    def pages(fetch):
        return lambda params, _: fetch(params=types.PaginatedRequestParams(**params))

    async def call_tool(params, progressed):
        request_id = session._request_id
        try:
            return await session.call_tool(params["name"], params["arguments"], progress_callback=progressed)
        except BaseException:
            # Whoever gives up a call of this line's has to tell the server.
            await session.send_notification(types.ClientNotification(types.CancelledNotification(
                params=types.CancelledNotificationParams(requestId=request_id))))
            raise

    return {
        "listTools": pages(session.list_tools),
        "listResources": pages(session.list_resources),
        "listResourceTemplates": pages(session.list_resource_templates),
        "listPrompts": pages(session.list_prompts),
        "readResource": lambda params, _: session.read_resource(types.AnyUrl(params["uri"])),
        "getPrompt": lambda params, _: session.get_prompt(**params),
        "complete": lambda params, _: session.complete(types.ResourceTemplateReference(**params["ref"]), params["argument"]),
        "callTool": call_tool,
        "watch": lambda uri, _: session.subscribe_resource(types.AnyUrl(uri)),
        "unwatch": lambda uri, _: session.unsubscribe_resource(types.AnyUrl(uri)),
    }
