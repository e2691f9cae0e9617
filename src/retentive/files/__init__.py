"""What is on disk? Files of people and projects, read into sections that can be searched."""
