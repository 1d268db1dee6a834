"""Finds and serves `diorama`, the command that this package installs.

    from diorama_worlds import serve

    with serve("--world", "doctor.yaml") as server:
        print(server.url)

Everything else is the command itself: `diorama --help`.
"""

from ._binary import find_diorama
from ._server import Server, ServerError, serve

__all__ = ["Server", "ServerError", "find_diorama", "serve"]
