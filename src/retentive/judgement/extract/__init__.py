"""Extract the statements of a conversation that are worth keeping, by rules of form and small learned judges."""
