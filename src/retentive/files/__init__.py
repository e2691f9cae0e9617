"""What is on disk? Reading documents for the index, and the daily log."""
