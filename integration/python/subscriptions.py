"""Subscriptions of the SDK's second line, in the way of a session's era."""

import asyncio

from mcp.client.subscriptions import listen
from mcp_types.version import MODERN_PROTOCOL_VERSIONS


class Subscriptions:
    def __init__(self, session):
        self.session = session
        self.listening = {}

    def modern(self):
        return self.session.protocol_version in MODERN_PROTOCOL_VERSIONS

    async def watch(self, uri, _):
        if not self.modern():
            return await self.session.subscribe_resource(uri)
        acknowledged = asyncio.get_running_loop().create_future()
        self.listening[uri] = asyncio.create_task(self.listen(uri, acknowledged))
        return await acknowledged

    async def listen(self, uri, acknowledged):
        try:
            async with listen(self.session, resource_subscriptions=[uri]) as subscription:
                acknowledged.set_result(subscription.honored)
                async for _ in subscription:
                    pass  # The session's message handler is told too.
        except Exception as error:
            if acknowledged.done():
                raise
            acknowledged.set_exception(error)

    async def unwatch(self, uri, _):
        if not self.modern():
            return await self.session.unsubscribe_resource(uri)
        task = self.listening.pop(uri)
        task.cancel()
        await asyncio.wait([task])
