"""How does it move? Chats and memories from elsewhere are read; whole stores go from one engine to another."""
