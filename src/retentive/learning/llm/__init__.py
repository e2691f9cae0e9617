"""What in talk is worth keeping? By a language model, and only as far as its answer can be believed."""
