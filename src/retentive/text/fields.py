"""The fields of a searchable row, and what a word found in each of them counts."""

FIELDS = ("content", "context", "tags", "before", "after", "speaker", "date")

# Searched in columns with weights of their own, not as one text: R@10 .628 -> .724 on LoCoMo turns
# (the turn 1, the one before .5, the one after .25, caption .7, date 1).
FIELD_WEIGHTS = (1.0, 0.7, 0.7, 0.5, 0.25, 1.0, 1.0)
