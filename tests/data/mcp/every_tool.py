"""Makes calls through the official MCP client for Python, which holds results against their output schemas.

Reads a list of {"url", "calls": [[name, arguments], ...]} from stdin, and prints for each call `ok`, `error`, or why the client refused it.
"""

import asyncio
import json
import sys

from mcp import Client


async def outcomes(url, calls):
    found = []
    async with Client(url) as client:
        await client.list_tools()
        for name, arguments in calls:
            try:
                result = await client.call_tool(name, arguments)
                found.append("error" if result.is_error else "ok")
            except Exception as error:  # Whatever the client does not take is what the test is about.
                found.append(f"{type(error).__name__}: {error}"[:400])
    return found


async def main():
    sessions = json.load(sys.stdin)
    print(json.dumps([await outcomes(session["url"], session["calls"]) for session in sessions]))


asyncio.run(main())
