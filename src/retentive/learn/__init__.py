"""What is worth keeping? Pure functions on texts."""
