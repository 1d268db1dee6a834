"""Uses a session through the official MCP client, and prints what it saw as JSON.

Takes the URL of a session's MCP endpoint, then tool calls as pairs of name and JSON arguments.
"""

import asyncio
import json
import sys

from mcp import Client


async def main(url, calls):
    async with Client(url) as client:
        listed = await client.list_tools()
        tools = [
            {"name": tool.name, "description": tool.description, "schema": tool.input_schema}
            for tool in listed.tools
        ]
        results = []
        for name, arguments in calls:
            result = await client.call_tool(name, arguments)
            text = "".join(part.text for part in result.content)
            results.append(
                {"error": bool(result.is_error), "text": text, "structured": result.structured_content}
            )
        print(
            json.dumps(
                {
                    "server": client.server_info.name,
                    "protocol": client.protocol_version,
                    "tools": tools,
                    "results": results,
                }
            )
        )


arguments = sys.argv[2:]
asyncio.run(main(sys.argv[1], [(n, json.loads(a)) for n, a in zip(arguments[::2], arguments[1::2])]))
