"""Names of places that are in no dictionary, a different one for each number."""

HEADS = "Ba Co Di Fu Ga Hi Jo Ku La Mi Nu Po Ra Se Ti Va We Xo Ya Zu".split()
TAILS = "bor dell fex gan hov jick kul lorm mav nerth".split()


def place(number: int) -> str:
    rest, tail = divmod(number, len(TAILS))
    rest, middle = divmod(rest, len(HEADS))
    rest, head = divmod(rest, len(HEADS))
    assert rest < len(HEADS)
    return f"{HEADS[rest]}{HEADS[head].lower()}{HEADS[middle].lower()}{TAILS[tail]}"
