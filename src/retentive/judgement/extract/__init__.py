"""What in talk is worth keeping, and what is asked for in plain words? By rules."""
