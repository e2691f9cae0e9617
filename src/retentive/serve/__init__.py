"""How do others reach us? Servers for models (MCP), the clients that start them, and the hooks of those clients."""
