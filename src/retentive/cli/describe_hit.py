"""Words for a hit: what it is, where to find it again, and how its score came about."""

from collections.abc import Iterator

from retentive.model import Contact, Event, Hit, Memory, Passage, Record, RetrieverScore, TimeMatch


def get_kind(hit: Hit) -> str:
    match hit.item:
        case Memory(kind=kind):
            return kind
        case Event(speaker=speaker, role=role):
            return speaker or role
        case _:
            return hit.type


def get_locator(hit: Hit) -> str:
    """Return the place of a passage, and the id of any other hit. Both find it again."""
    return hit.item.place if isinstance(hit.item, Passage) else hit.id


def get_tags(hit: Hit) -> tuple[str, ...]:
    return hit.item.tags if isinstance(hit.item, Memory) else ()


def describe_hit(hit: Hit) -> str:
    """Return the part that matched; the main fields of a contact; the lines of another record as one."""
    match hit.item:
        case Contact() as who:
            aliases = f" ({', '.join(who.aliases)})" if who.aliases else ""
            position = " at ".join(filter(None, (who.role, who.company)))
            heading = ", ".join(filter(None, (f"{who.name}{aliases}", position)))
            return " · ".join(filter(None, (heading, who.email, who.phone, who.notes)))
        case Record():
            return " · ".join(each.removesuffix(".") for each in hit.excerpt.splitlines())
        case _:
            return hit.excerpt


def list_share_facts(hit: Hit) -> Iterator[tuple[str, float, str]]:
    """Yield name, points and detail of each signal that counts."""
    scores = {"text": hit.why.text, "vector": hit.why.vector}
    for name, share in hit.why.shares.items():
        if share:
            yield name, share, _format_retriever(scores.get(name))


def explain_score(hit: Hit) -> str:
    """Write the sum of a score on one line."""
    why = hit.why
    parts = [f"{name} {share:+.3f}{f' [{detail}]' if detail else ''}" for name, share, detail in list_share_facts(hit)]
    factors = f"confidence {why.confidence_factor:.2f} x importance {why.importance_factor:.2f}"
    timing = _format_time_match(why.time) if why.time else ""
    if not parts:  # no signals: it was added beside its newer or older memory, or found by its letters alone
        parts = ["shown with its pair" if why.pair == hit.score else "exact match"]
    added = "".join(f" {share:+.3f} [{name}]" for name, share in (("pair", why.pair), ("rerank", why.rerank)) if share)
    return f"{hit.score:.4f} = ({' '.join(parts)}) x {factors}{timing}{added}; relevance {hit.relevance:.2f}"


def _format_time_match(timing: TimeMatch) -> str:
    bonus = f" + {timing.bonus:.2f}" if timing.bonus else ""
    return f" x time {timing.factor:.2f}{bonus} [{timing.words}: {timing.relation}{_format_bounds(timing)}]"


def _format_bounds(timing: TimeMatch) -> str:
    ends = [f"{word} {end:%Y-%m-%d}" for word, end in (("since", timing.since), ("until", timing.until)) if end]
    return f", {' '.join(ends)}" if ends else ""


def _format_retriever(score: RetrieverScore | None) -> str:
    return f"rank {score.rank}, score {score.score:.3f}" if score else ""
