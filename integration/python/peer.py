"""One MCP client for Python, driven by a Go test as peer.mjs is.

The single argument is JSON, as for peer.mjs; its "client" names the module
beside this one that knows the library: sdk1, sdk2 or fastmcp4.
"""

import asyncio
import importlib
import json
import sys


def write(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def plain(value):
    """Returns a library's model as it is on the wire."""
    dump = getattr(value, "model_dump", None)
    return dump(mode="json", by_alias=True, exclude_none=True) if dump else value


async def notified(message):
    """Is called with each notification, and with the transport's errors."""
    message = getattr(message, "root", message)
    if isinstance(message, Exception):
        print("peer:", repr(message), file=sys.stderr)
    else:
        write({"notification": plain(message)})


async def answer(methods, request):
    async def progressed(progress, total, message):
        write({"progress": {"id": request["id"], "message": message}})

    try:
        method = methods[request["method"]]
        arguments = request.get("args") or [{}]
        result = await method(arguments[0], progressed if request.get("progress") else None)
        write({"id": request["id"], "result": plain(result)})
    except (Exception, asyncio.CancelledError) as error:
        said = getattr(error, "error", None)
        write({"id": request["id"], "error": {
            "code": getattr(said, "code", type(error).__name__),
            "message": str(error),
            "data": getattr(said, "data", None),
        }})


async def main():
    plan = json.loads(sys.argv[1])
    library = importlib.import_module(plan["client"])
    async with library.connect(plan, notified) as (connected, methods):
        write({"connected": connected})
        tasks = {}
        while line := await asyncio.to_thread(sys.stdin.readline):
            request = json.loads(line)
            if request["method"] == "cancel":
                tasks[request["args"][0]].cancel()
                write({"id": request["id"], "result": None})
            else:
                tasks[request["id"]] = asyncio.create_task(answer(methods, request))


asyncio.run(main())
