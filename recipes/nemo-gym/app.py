"""NeMo Gym's entry point of a resources server: becomes `diorama serve` on the host and port that Gym assigned."""

import os

from diorama_worlds import find_diorama
from nemo_gym.global_config import NEMO_GYM_CONFIG_PATH_ENV_VAR_NAME, get_first_server_config_dict, get_global_config_dict

if __name__ == "__main__":
    config = get_first_server_config_dict(get_global_config_dict(), os.environ[NEMO_GYM_CONFIG_PATH_ENV_VAR_NAME])
    command = [find_diorama(), "serve", "--tasks", config.dataset, "--host", config.host, "--port", "0"]
    command += ["--gym", f"nemo-gym:{config.port}", *config.get("options", [])]
    # The admin API behind it needs a token, which nobody has to know.
    os.execve(command[0], command, os.environ | {"DIORAMA_CONTROL_TOKEN": os.urandom(16).hex()})
