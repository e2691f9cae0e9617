"""What is known in fields? Pure functions on documents, names and schedules."""
