"""What is declared once about the servers: the sets of tools that they offer."""

TOOL_SETS = ("default", "full", "read", "chatgpt", "server-memory")
"""`chatgpt` and `server-memory` have the names and answers that other products expect."""
