"""Uses a session through the official MCP client, and prints what it saw as JSON.

Takes the URL of a session's MCP endpoint, then tool calls as pairs of name and JSON arguments.
"""

import asyncio
import json
import sys

from mcp import Client, MCPError


async def main(url, calls):
    async with Client(url) as client:
        listed = await client.list_tools()
        tools = [
            {
                "name": tool.name,
                "description": tool.description,
                "schema": tool.input_schema,
                "output": tool.output_schema,
            }
            for tool in listed.tools
        ]
        results = []
        for name, arguments in calls:
            result = await client.call_tool(name, arguments)
            text = "".join(part.text for part in result.content)
            results.append(
                {"error": bool(result.is_error), "text": text, "structured": result.structured_content}
            )
        # What the server does not offer is refused as an unknown method, and a cursor it did not give as a wrong one.
        refused = {}
        for name, ask in {
            "prompts": client.list_prompts,
            "resources": client.list_resources,
            "templates": client.list_resource_templates,
            "prompt": lambda: client.get_prompt("p"),
            "resource": lambda: client.read_resource("file:///r"),
            "cursor": lambda: client.list_tools(cursor="7"),
        }.items():
            try:
                refused[name] = f"answered {await ask()}"
            except MCPError as error:
                refused[name] = error.error.code
        print(
            json.dumps(
                {
                    "more": listed.next_cursor,
                    "refused": refused,
                    "server": client.server_info.name,
                    "protocol": client.protocol_version,
                    "tools": tools,
                    "results": results,
                }
            )
        )


arguments = sys.argv[2:]
asyncio.run(main(sys.argv[1], [(n, json.loads(a)) for n, a in zip(arguments[::2], arguments[1::2])]))
