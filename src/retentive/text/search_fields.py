"""The fields of a searchable row, and the weight of a word found in each of them."""

SEARCH_FIELDS = ("content", "context", "tags", "before", "after", "speaker", "date")

# Separate columns with weights instead of one text: R@10 .628 -> .724 on LoCoMo turns
# (the turn 1, the turn before .5, the turn after .25, caption .7, date 1).
FIELD_WEIGHTS = (1.0, 0.7, 0.7, 0.5, 0.25, 1.0, 1.0)
