"""What does a statement say, and which others does it put an end to?"""
