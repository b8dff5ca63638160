"""A configuration with one small real server."""

import json
import sys
from pathlib import Path

SERVER = Path(__file__).resolve().parents[2] / "fixtures" / "servers" / "weather.py"


def write_weather_configuration(folder: Path) -> Path:
    """Write the configuration's file in `folder`; the server is named `weather`."""
    path = folder / "toolsight.json"
    server = {"command": sys.executable, "args": [str(SERVER)], "env": {"TOOLSIGHT_STATE": str(folder)}}
    path.write_text(json.dumps({"mcpServers": {"weather": server}, "settings": {"discovery.auto": "always"}}))
    return path
