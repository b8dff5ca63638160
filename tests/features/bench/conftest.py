"""A small data set for the commands that measure."""

import json
from pathlib import Path

import pytest

TOOLS = ("list_orders", "refund_order", "send_message", "get_forecast")
QUERIES = {"refund an order": "refund_order", "send a message": "send_message", "forecast": "get_forecast"}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Four tools, three possible requests and one impossible one."""
    folder = tmp_path / "tiny"
    folder.mkdir()
    tools = [{"id": name, "server": "s", "name": name} for name in TOOLS]
    rows: list[object] = [
        {"id": query, "query": query, "relevant": [tool]} for query, tool in QUERIES.items()
    ]
    rows.append({"id": "none", "query": "haircut", "relevant": []})
    for name, lines in (("tools", tools), ("queries", rows)):
        (folder / f"{name}.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return folder
