"""Transports of the official SDK, which are called the same in both lines."""

from mcp import StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client


# Seconds, for a machine that is busy.
PATIENCE = 60


def transport(plan):
    if "stdio" in plan:
        return stdio_client(StdioServerParameters(**plan["stdio"]))
    return sse_client(plan["sse"], timeout=PATIENCE) if "sse" in plan else streamable_http_client(plan["http"])
