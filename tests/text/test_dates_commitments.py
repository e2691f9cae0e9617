"""Which year is meant, above all where something was agreed: past itself, of a day to come."""

import re
from datetime import UTC, datetime
from itertools import product

import pytest

from retentive.judgement.extract.absolute_dates import make_dates_absolute
from retentive.model import Kind

# When it was said; the statement, with what is to be added in brackets. Without brackets the words stay.
STATEMENTS = [
    ("2026-11-12", "The choir agreed to rehearse on December 6[ 2026]"),
    ("2026-11-12", "The user booked the greenhouse for 14 February[ 2027]"),
    ("2026-11-12", "We decided to close the workshop on 23 December[ 2026]."),
    ("2026-11-12", "The user promised to deliver the oak table by January 9[ 2027]"),
    ("2026-11-12", "The committee scheduled the vote for March 3[ 2027]"),
    ("2026-11-12", "The vet arranged to see the goat on Tuesday[ (17 November 2026)]"),
    ("2026-11-12", "The user committed to finish the roof by Friday[ (13 November 2026)]"),
    ("2026-11-12", "Lena chose to retire in June[ 2027]"),
    ("2026-11-12", "The user agreed to lead the tour on the 20th[ (20 November 2026)]"),
    ("2026-11-12", "The board set the deadline for 30 November[ 2026]"),
    ("2026-11-12", "The user booked a cabin in Norway for July[ 2027]"),
    ("2026-11-12", "The landlord promised to fix the boiler by next week[ (week of 16 November 2026)]"),
    ("2026-11-12", "They planned to open the bakery in February[ 2027]"),
    ("2026-11-12", "The user agreed to sit on the jury on 2 May[ 2027]"),
    ("2026-11-02", "The user agreed to meet Tom on the 3rd[ (3 November 2026)]"),
    ("2026-11-12", "The user agreed to swap shifts on Saturday[ (14 November 2026)]"),
    ("2026-11-12", "The user has promised Maya a cake for Sunday[ (15 November 2026)]"),
    ("2026-11-12", "The jury decided yesterday[ (11 November 2026)] to award the prize on 4 December[ 2026]"),
    ("2026-11-12", "Last month[ (October 2026)] the user agreed to sing at a wedding on 12 December[ 2026]"),
    ("2026-11-12", "The user decided last week[ (week of 2 November 2026)] to resign in January[ 2027]"),
    ("2026-11-12", "Klara promised to return the ladder on Monday[ (16 November 2026)]"),
    ("2026-11-12", "The user chose 14 May[ 2027] for the wedding"),
    ("2026-11-12", "The user set the date of the christening for 20 December[ 2026]"),
    ("2026-11-12", "The crew plans to strike the set on 1 December[ 2026]"),
    ("2026-11-12", "The user is signed up for a first-aid course on 28 November[ 2026]"),
    ("2026-11-12", "The user has booked the physiotherapist for 19 November[ 2026]"),
    ("2026-11-12", "The user has booked four nights in Cork from 3 to 7 January[ 2027]"),
    ("2026-11-12", "The tiler agreed a start date of 7 December[ 2026]"),
    ("2026-11-12", "The user decided to stop eating meat in January[ 2027]"),
    ("2026-11-12", "The user agreed to pay on the 10th[ (10 December 2026)]"),
    ("2026-11-12", "The user arranged a viewing for Friday[ (13 November 2026)]"),
    ("2026-11-12", "The user promised to be vegan until Easter[ 2027]"),
    ("2026-11-12", "The user signed up to volunteer at Christmas[ 2026]"),
    ("2026-11-12", "The user booked the hall for the weekend[ (weekend of 14 November 2026)]"),
    ("2026-11-12", "The band agreed to release the album in spring[ 2027]"),
    ("2026-11-12", "The user agreed to review the draft tomorrow[ (13 November 2026)]"),
    ("2026-11-12", "The inspection was moved to 9 December[ 2026]"),
    ("2026-11-12", "The launch was postponed from 1 November to 15 December[ 2026]"),
    ("2024-02-28", "The user agreed to run the stall on the 29th[ (29 February 2024)]"),
    ("2025-06-30", "The user promised to send the samples on 1 July[ 2025]"),
    ("2025-06-30", "The user decided to spend August[ 2025] in Crete"),
    ("2027-01-05", "The user agreed to chair the meeting on 20 January[ 2027]"),
    ("2025-06-30", "The user plans on visiting Bergen in May[ 2026]"),
    ("2025-06-30", "The user ordered the piano for 2 October[ 2025]"),
    ("2025-06-30", "The user's appointment was set for 8 July[ 2025]"),
    ("2025-06-30", "It was agreed that the pool opens on 12 July[ 2025]"),
    ("2025-06-30", "The user decided that the party will be on 9 August[ 2025]"),
    ("2027-05-10", "We agreed on the price on 3 March[ 2027]"),
    ("2026-11-12", "The user signed the lease on 4 October[ 2026]"),
    ("2026-11-12", "The user decided on 2 September[ 2026] to sell the boat"),
    ("2026-11-12", "On 8 October[ 2026] the members agreed to raise the fee"),
    ("2026-11-12", "In August[ 2026] the user decided to learn the cello"),
    ("2026-11-12", "The user chose the green tiles in September[ 2026]"),
    ("2026-11-12", "They promised in July[ 2026] to repaint the fence"),
    ("2026-11-12", "The contract was signed on 15 October[ 2026]"),
    ("2026-11-12", "We agreed at Easter[ 2026] to sell the caravan"),
    ("2026-11-12", "The user set a record on 14 October[ 2026]"),
    ("2025-06-30", "The user decided that the party was too loud on 7 June[ 2025]"),
    ("2025-06-30", "The user learned on 3 June[ 2025] that the flight was booked for 19 July[ 2025]"),
    ("2026-11-12", "The user signed up for the half marathon on April 18"),
    ("2027-01-05", "The team agreed to ship on December 20"),
    ("2026-11-12", "The user booked the flight on Monday"),
    ("2026-11-12", "We scheduled the inspection on 2 October"),
    ("2026-11-12", "The user had planned to move in June"),
    ("2026-11-12", "The user originally agreed to speak on 5 October"),
    ("2026-11-12", "The user registered for the exam on 5 December"),
    ("2026-11-12", "The user decided to stop eating meat in October"),
    ("2026-11-12", "The user promised to call the insurer on 6 November"),
    ("2026-11-12", "The user arranged the flowers on Friday"),
    ("2026-11-12", "The user planned a surprise party for Ines in September"),
    ("2027-01-05", "We agreed to freeze hiring in December"),
    ("2025-06-30", "The wedding was set for 8 May"),
    ("2026-11-12", "The user set the table for 25 people"),
    ("2026-11-12", "The user agreed to ship on 2027-01-15"),
    ("2026-11-02", "The user has a hearing on the 3rd[ (3 November 2026)]"),
    ("2026-11-02", "The user met the surveyor on the 3rd[ (3 October 2026)]"),
    ("2026-11-02", "The plumber comes on the 3rd[ (3 November 2026)]"),
    ("2026-11-12", "The user moved to Ghent in March[ 2026]"),
    ("2026-11-12", "The kiln broke in January[ 2026]"),
    ("2026-11-12", "The user adopted a greyhound in December[ 2025]"),
    ("2026-11-12", "The exhibition opens in February[ 2027]"),
    ("2026-11-12", "The user will plant garlic in October[ 2027]"),
    ("2026-11-12", "Rina's visa expires in May[ 2027]"),
    ("2026-11-12", "The user is moving to Ghent in March[ 2027]"),
    ("2026-11-12", "The user moved the bees in November[ 2026]"),
    ("2026-11-12", "The orchestra toured Japan in April[ 2026]."),
    ("2026-11-12", "The user taught in Leeds in September[ 2026]"),
    ("2026-11-12", "The factory shut in August[ 2026]"),
    ("2026-11-12", "The ferry sank on 9 September[ 2026]"),
    ("2026-11-12", "The user broke the lathe on Saturday[ (7 November 2026)]"),
    ("2026-11-12", "The user missed the ferry on 30 October[ 2026]"),
    ("2026-11-12", "The grant was approved in September[ 2026] and the work starts in March[ 2027]"),
    ("2026-11-12", "The user bought the plot in May[ 2026] and will build on it in April[ 2027]"),
    ("2026-11-12", "The user moved in March[ 2026] because the lease ended in February[ 2026]"),
    ("2025-06-30", "The user sent the samples on 1 July[ 2024]"),
    ("2025-06-30", "The user spent August[ 2024] in Crete"),
    ("2025-06-30", "The user has a physio appointment on 30 June[ 2025]"),
    ("2027-01-05", "The user chaired the meeting on 20 December[ 2026]"),
    ("2027-01-05", "The user skied in Andorra in December[ 2026]"),
    ("2025-06-30", "The user will be 40 on 3 March[ 2026]"),
    ("2025-06-30", "The user ordered the piano on 2 June[ 2025]"),
    ("2026-11-12", "The user defended the thesis on 12 June[ 2026]."),
    ("2026-11-12", "The user landed in Oslo on 3 Sept[ 2026]."),
    ("2026-11-12", "The user sold the kayak on 5 September[ 2026] in Siena"),
    ("2026-11-12", "The user flew on Dec. 3[ 2025] to Malta"),
    ("2026-11-12", "The trial began on 12 June[ 2026]. It ended in July[ 2026]."),
    ("2026-11-12", "The user graduated on 15 April of 87"),
    ("2026-11-12", "The house was built in June of 74"),
    ("2026-11-12", "The lease started on 2019/aug/01"),
    ("2026-11-12", "The user's permit dates from 20240315"),
    ("2026-11-12", "The user finished the quilt on the twenty-first of May[ 2026]"),
    ("2026-11-12", "The user won the regatta on May twenty-first[ 2026]"),
    ("2026-11-12", "The fair was held on 18 and 19 June[ 2026]"),
    ("2026-11-12", "The fair will be held on 18 and 19 June[ 2027]"),
    ("2026-11-12", "The hearing took place on June 18 and 19[ 2026]"),
    ("2026-11-12", "The user hiked from 2 to 7 August[ 2026]"),
    ("2026-11-12", "The user worked at the mill from November to February[ (November 2025 to February 2026)]"),
    ("2026-11-12", "The user attended the course 4-6 May[ 2026]"),
    ("2026-11-12", "The workshop runs from 30 November to 2 December[ 2026]"),
    ("2026-11-12", "The user stayed from 28 December to 3 January[ (28 December 2025 to 3 January 2026)]"),
    (
        "2026-11-12",
        "The shop will be closed between 24 December and 2 January[ (24 December 2026 to 2 January 2027)]",
    ),
    ("2026-11-12", "The user starts on the first of December[ 2026]"),
    ("2026-11-12", "The user started on the first of December[ 2025]"),
    ("2026-11-12", "The user saw the dentist on the 10th[ (10 November 2026)]"),
    ("2026-11-12", "The user saw the dentist on the 25th[ (25 October 2026)]"),
    ("2026-11-12", "The user sees the notary on the 25th[ (25 November 2026)]"),
    ("2026-11-12", "The user quit smoking on the thirtieth of September[ 2026]"),
    ("2025-09-17", "The user pledged to donate the harp on 1 October[ 2025]"),
    ("2025-09-17", "The rowing club voted on 3 July[ 2025] to buy a new boat"),
    ("2025-09-17", "The user agreed with the mason that the wall is done by 15 November[ 2025]"),
    ("2025-09-17", "The user reserved a table for Saturday[ (20 September 2025)]"),
    ("2025-09-17", "The user ate at the new place on Saturday[ (13 September 2025)]"),
    ("2025-09-17", "Pia's surgery is planned for 8 January[ 2026]"),
    ("2025-09-17", "The landlord raised the rent on 1 August[ 2025]."),
    ("2025-09-17", "The user hired a carpenter in May[ 2025] who promised to finish by October[ 2025]"),
    ("2025-09-17", "The user and Jo chose to marry on 6 June[ 2026]"),
    ("2025-09-17", "The user set the alarm for 6 am"),
    ("2025-09-17", "The user set up the loom in April[ 2025]"),
    ("2025-09-17", "The town decided on 9 May[ 2025] to close the pool"),
    ("2025-09-17", "The orchestra will perform on 5 and 6 December[ 2025]"),
    ("2025-09-17", "The user injured a knee on the 14th[ (14 September 2025)]"),
    ("2025-09-17", "The user flies to Lima on the 30th[ (30 September 2025)]"),
    ("2025-09-17", "The user's cat died on 22 August[ 2025]."),
    ("2025-09-17", "The user has lived in Cadiz since April[ 2025]"),
    ("2025-09-17", "The user is in Cadiz since April[ 2025]"),
    ("2025-09-17", "The user was supposed to fly on 2 November"),
    ("2025-09-17", "The user wanted to retire in July"),
    ("2025-09-17", "The exam was pushed to 3 October[ 2025]"),
    ("2025-09-17", "The user changed jobs in March[ 2025]"),
    ("2025-09-17", "The user moved to a flat near the port in May[ 2025]"),
    ("2025-09-17", "The user changed to a vegan diet in January[ 2025]"),
    ("2026-03-04", "The user promised to repaint the shutters in April[ 2026]"),
    ("2026-03-04", "The user repainted the shutters in April[ 2025]"),
    ("2026-03-04", "The user got engaged on 14 February[ 2026]"),
    ("2026-03-04", "The user bought tickets for the opera on 20 March"),
    ("2026-03-04", "The users' council agreed to meet again on the 12th[ (12 March 2026)]"),
    ("2026-03-04", "The bank approved the loan on 27 February[ 2026]"),
    ("2026-03-04", "The user intends to sell the car in May[ 2026]"),
    ("2026-03-04", "The user decided not to travel in August[ 2026]"),
    ("2026-03-04", "The user stopped smoking on 1 January[ 2026] and plans to run in June[ 2026]"),
    ("2026-03-04", "The user resigned on Monday[ (2 March 2026)]"),
    ("2026-03-04", "The user signed up to teach on Thursday[ (5 March 2026)]"),
    ("2026-03-04", "The user visited Graz on the twelfth of October[ 2025]"),
    ("2026-03-04", "The user opened the bakery on Monday, 2 March[ 2026]"),
    ("2026-03-04", "The user will open the bakery on Friday, 6 March[ 2026]"),
    ("2026-03-04", "The user visited Nara on 3 May last year[ (3 May 2025)]"),
    ("2026-03-04", "The permit was issued on 20250612."),
    ("2026-03-04", "The user worked there from 3 May to 9 September[ 2025]"),
    ("2024-12-10", "The user agreed to host Christmas[ 2024]"),
    ("2024-12-10", "The user arranged for the piano to be tuned on 3 January[ 2025]"),
    ("2024-12-10", "The user finished the novel on 30 Nov.[ 2024] and sent it off"),
    ("2024-12-10", "The user renewed the passport on 4 Dec[ 2024]."),
    ("2024-12-10", "The flight leaves on 31 December[ 2024]"),
    ("2024-12-10", "The user left Turin on 31 October[ 2024]"),
    ("2024-12-10", "The user offered to drive on Sunday[ (15 December 2024)]"),
    ("2024-12-10", "The user sold the van to Ben on Sunday[ (8 December 2024)]"),
]
# What is not read, or could be read in two ways: nothing need be added, but nothing wrong may be.
LEFT_OUT = [
    ("2026-11-12", "The user paid the deposit on 2 November[ 2026] for the booking on 20 December[ 2026]"),
    ("2025-09-17", "The user enrolled in a pottery class in June[ 2025]"),
    ("2025-09-17", "The user planned the garden in February[ 2025]"),
    ("2026-03-04", "The user booked a campsite for the second week of August[ (10 August 2026 to 16 August 2026)]"),
    ("2026-03-04", "The user committed to a marathon on 12 April[ 2026]"),
    ("2024-12-10", "The committee agreed in November[ 2024] to move the fair to March[ 2025]"),
    ("2024-12-10", "Ola settled on 21 June[ 2025] for the wedding"),
]


def complete(said: str, text: str) -> str:
    return make_dates_absolute(text, Kind.FACT, datetime.fromisoformat(f"{said}T10:00").replace(tzinfo=UTC))


@pytest.mark.parametrize(("said", "marked"), STATEMENTS)
def test_a_date_is_given_the_year_that_is_meant(said: str, marked: str) -> None:
    """Past events look back, commitments ahead; where both are possible the words stay."""
    bare = re.sub(r"\[[^]]*\]", "", marked)
    assert complete(said, bare) == marked.replace("[", "").replace("]", "")


@pytest.mark.parametrize(("said", "marked"), LEFT_OUT)
def test_a_date_in_doubt_is_never_given_a_wrong_year(said: str, marked: str) -> None:
    """Each addition is made as it stands, or not at all."""
    pieces = re.split(r"\[([^]]*)\]", marked)
    choices = [(piece,) if n % 2 == 0 else ("", piece) for n, piece in enumerate(pieces)]
    allowed = {"".join(choice) for choice in product(*choices)}
    assert complete(said, "".join(pieces[::2])) in allowed


FIRST_PERSON = [
    ("2026-11-10", "we agreed to freeze on December 20", "we agreed to freeze on December 20 2026"),
    ("2027-05-10", "we agreed on the price on 3 March", "we agreed on the price on 3 March 2027"),
    ("2026-11-10", "I moved in March", "I moved in March 2026"),
    ("2026-11-10", "I moved to Rome in March.", "I moved to Rome in March 2026."),
    ("2026-11-10", "We met from May 13 - May 19", "We met from May 13 - May 19 2026"),
    ("2026-11-10", "I have signed my will on 3 May", "I have signed my will on 3 May 2026"),
    ("2026-11-10", "On 3 Sept. we met", "On 3 Sept. 2026 we met"),
    ("2026-11-10", "We met on Tuesday, 3 May", "We met on Tuesday, 3 May"),  # no Tuesday in 2026 or 2027
]


@pytest.mark.parametrize(("said", "text", "stands"), FIRST_PERSON)
def test_a_statement_in_the_first_person_stands_alone(said: str, text: str, stands: str) -> None:
    """The year is written behind the date, before the stop of the sentence, and never behind half a date."""
    assert complete(said, text) == stands
