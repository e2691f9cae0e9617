"""What is worth keeping? Pure functions on texts; `model.py` asks the language model that it is given."""
