"""What is on disk? Files of people and projects, found, read and followed for the index; and the daily log."""
