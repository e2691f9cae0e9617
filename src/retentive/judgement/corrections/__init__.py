"""Does a newer statement replace an older one? Sure rules, a learned judge for the rest, and the values of both."""
