"""NeMo Gym's `workplace_assistant`, served by its own code on a free port, which is written to the file that is named."""

import socket
import sys
from pathlib import Path

import uvicorn
from nemo_gym.config_types import BaseServerConfig
from nemo_gym.server_utils import ServerClient
from omegaconf import OmegaConf
from resources_servers.workplace_assistant.app import WorkbenchResourcesServer, WorkbenchResourcesServerConfig

HOST = "127.0.0.1"

if __name__ == "__main__":
    bound = socket.socket()
    bound.bind((HOST, 0))
    bound.listen(4096)
    port = bound.getsockname()[1]
    client = ServerClient(head_server_config=BaseServerConfig(host=HOST, port=11000), global_config_dict=OmegaConf.create({}))
    config = WorkbenchResourcesServerConfig(name="workplace_assistant", host=HOST, port=port, entrypoint="app.py")
    server = WorkbenchResourcesServer(config=config, server_client=client)
    app = server.setup_webserver()
    server.setup_liveness(app)
    server.setup_exception_middleware(app)
    Path(sys.argv[1]).write_text(str(port), encoding="ascii")
    uvicorn.Server(uvicorn.Config(app, log_level="error", timeout_keep_alive=60)).run(sockets=[bound])
