"""A server of chat completions whose replies are recorded calls. Arguments: rows, recorded episodes, a file for its port."""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import scripted

rows, episodes, port = sys.argv[1:]
recorded = scripted.steps(episodes)
prompts = {
    tuple(message["content"] for message in row["responses_create_params"]["input"][:2]): row["id"]
    for row in scripted.rows(rows, recorded, None)
}


def text(content):
    """The words of a message, which may be parts."""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content or [])


class Policy(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        messages = body["messages"]
        calls = recorded[prompts[(text(messages[0]["content"]), text(messages[1]["content"]))]]["calls"]
        done = sum(message["role"] == "tool" for message in messages)
        message = {"role": "assistant", "content": "Done."}
        if done < len(calls):
            name, arguments = calls[done]
            names = [tool["function"]["name"] for tool in body.get("tools", [])]
            if name not in names:
                name, arguments = "call_api", {"name": name, "arguments": arguments}
            assert name in names, f"{name} is not among {names}"
            call = {"id": f"c{done}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
            message = {"role": "assistant", "content": None, "tool_calls": [call]}
        reason = "tool_calls" if "tool_calls" in message else "stop"
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        about = {"id": "x", "created": 0, "model": "scripted", "usage": usage}
        choice = {"index": 0, "finish_reason": reason}
        if body.get("stream"):
            delta = message | {"tool_calls": [call | {"index": 0} for call in message.get("tool_calls", [])]}
            chunk = about | {"object": "chat.completion.chunk", "choices": [choice | {"delta": delta}]}
            kind, reply = "text/event-stream", f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n"
        else:
            kind, reply = "application/json", json.dumps(about | {"object": "chat.completion", "choices": [choice | {"message": message}]})
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply.encode())

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Policy)
    Path(port).write_text(str(server.server_address[1]), encoding="ascii")
    server.serve_forever()
