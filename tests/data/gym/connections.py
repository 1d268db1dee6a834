"""Sessions over connections that break, against a server that counts requests. Prints what came of each as JSON."""

import json
import socket
import threading

from diorama_worlds._sessions import Client

REPLY = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}"
requests = []


def read(connection):
    """The path of the next request, whose body is read as well; empty at the end of the connection."""
    head = b""
    while b"\r\n\r\n" not in head:
        got = connection.recv(65536)
        if not got:
            return ""
        head += got
    head, _, body = head.partition(b"\r\n\r\n")
    lengths = [line.split(b":")[1] for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    while len(body) < int(lengths[0] if lengths else 0):
        body += connection.recv(65536)
    return head.split(b" ")[1].decode()


def serve(listener):
    while True:
        connection, _ = listener.accept()
        while path := read(connection):
            requests.append(path)
            if path == "/lost":
                break
            connection.sendall(REPLY)
            if path == "/last":
                break
        connection.close()


listener = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=serve, args=[listener], daemon=True).start()
client = Client(f"http://127.0.0.1:{listener.getsockname()[1]}", token="t")
outcomes = []
for path in ["/first", "/lost", "/next", "/last", "/after"]:
    try:
        outcomes.append(client.ask("POST", path, {"a": 1}))
    except ConnectionError:
        outcomes.append("lost")
    if path == "/last":
        # The server ends the connection after its reply; the end is there before the next request.
        client._connection.sock.settimeout(10)
        assert client._connection.sock.recv(1, socket.MSG_PEEK) == b""
print(json.dumps({"outcomes": outcomes, "requests": requests}))
