"""Where the installed command is."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from pathlib import Path


def find_diorama() -> str:
    """Returns the path of the `diorama` command: of this environment, then of the user's scripts, then on the PATH.

    Raises FileNotFoundError when there is none.
    """
    name = "diorama.exe" if sys.platform == "win32" else "diorama"
    folders = [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", scheme=_user_scheme())]
    for folder in folders:
        path = Path(folder) / name
        if path.is_file() and os.access(path, os.X_OK):
            return str(path)
    found = shutil.which(name)
    if found is None:
        raise FileNotFoundError(f"found no `{name}` in {' or '.join(folders)} or on the PATH: install the wheel diorama-worlds")
    return found


def _user_scheme() -> str:
    if sys.version_info >= (3, 10):
        return sysconfig.get_preferred_scheme("user")
    return "nt_user" if os.name == "nt" else "posix_user"
