// Makes calls through the official MCP client for TypeScript, which holds results against their output schemas.
//
// Takes the folder that the client is installed in. Reads a list of {"url", "calls": [[name, arguments], ...]} from stdin, and prints for
// each call `ok`, `error`, or why the client refused it.

import { readFileSync } from "node:fs";

const sdk = `${process.argv[2]}/@modelcontextprotocol/sdk/dist/esm/client`;
const { Client } = await import(`${sdk}/index.js`);
const { StreamableHTTPClientTransport } = await import(`${sdk}/streamableHttp.js`);

const all = [];
for (const { url, calls } of JSON.parse(readFileSync(0, "utf8"))) {
  const client = new Client({ name: "every-tool", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  await client.listTools();
  const found = [];
  for (const [name, args] of calls) {
    try {
      const result = await client.callTool({ name, arguments: args });
      found.push(result.isError ? "error" : "ok");
    } catch (error) {
      found.push(`${error.name}: ${error.message}`.slice(0, 400));
    }
  }
  await client.close();
  all.push(found);
}
console.log(JSON.stringify(all));
