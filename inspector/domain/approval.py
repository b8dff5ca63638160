"""Which calls need a yes of the person."""

from inspector.domain.tool import Tool


def why_ask(tool: Tool) -> str:
    """Why a call needs a yes; empty for a tool whose server says that it only reads."""
    annotations = tool.annotations
    if annotations.read_only:
        return ""
    if annotations.destructive:
        return "its server says that it destroys or overwrites"
    if annotations.read_only is None:
        return "its server does not say that it only reads"
    return "its server says that it changes something"
