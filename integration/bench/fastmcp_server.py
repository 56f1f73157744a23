"""FastMCP with its provider of skills, for a comparison: on standard input and
output, or over HTTP at /mcp where an address is given.

usage: fastmcp_server.py DIRECTORY [HOST:PORT]
"""

import sys

from fastmcp import FastMCP
from fastmcp.server.providers.skills import SkillsDirectoryProvider

server = FastMCP("skills", providers=[SkillsDirectoryProvider(sys.argv[1])])
if len(sys.argv) == 2:
    server.run(transport="stdio", show_banner=False)
else:
    host, port = sys.argv[2].rsplit(":", 1)
    server.run(
        transport="http", host=host, port=int(port), path="/mcp", show_banner=False,
        uvicorn_config={"log_level": "error"},
    )
