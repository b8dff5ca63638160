"""The server of the walk: what someone may have on the first day, with one tool that few find."""

from mcp.server.mcpserver import MCPServer

server = MCPServer("crm")


@server.tool()
def list_invoices(customer: str = "", unpaid: bool = False) -> list[str]:
    """List the invoices of a customer, newest first."""
    return [f"invoice 1046 of {customer or 'Vega'}: {'unpaid' if unpaid else 'paid'}"]


@server.tool()
def get_customer(name: str) -> str:
    """Look up a customer by name."""
    return f"{name}, sales@example.com"


@server.tool()
def void_invoice(invoice: int) -> str:
    """Void an invoice that was made by mistake."""
    return f"invoice {invoice} is void"


@server.tool()
def dunning_run(document: int) -> str:
    """Send a reminder."""
    return f"sent for {document}"


server.run()
