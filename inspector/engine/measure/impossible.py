"""Requests that hardly any catalog can serve, and those that look impossible for a given one."""

from collections import Counter
from collections.abc import Sequence

from inspector.domain.tool import Tool
from inspector.engine.discovery.document import MAX_INDEXED
from inspector.engine.discovery.term import terms

# A word in a larger share of the tools belongs to the catalog's subject.
MAX_SHARE = 0.01

REQUESTS = (
    "Book me a haircut with my usual barber",
    "Order a margherita pizza for delivery",
    "Water the tomatoes in the greenhouse",
    "Feed the cat at noon",
    "Walk the dog around the block",
    "Tune my guitar to drop D",
    "Fold the laundry",
    "Iron my shirts",
    "Vacuum under the sofa",
    "Sharpen the kitchen knives",
    "Bake a sourdough loaf",
    "Brew me an espresso",
    "Peel two kilos of potatoes",
    "Mow the lawn",
    "Shovel the snow off the driveway",
    "Trim the hedge",
    "Prune the apple tree",
    "Unclog the bathtub drain",
    "Replace the flat tyre of my bicycle",
    "Change the engine oil of my car",
    "Wash the windscreen",
    "Jump-start the motorcycle",
    "Refuel the boat",
    "Land the helicopter on the roof",
    "Launch a satellite into orbit",
    "Dock with the space station",
    "Predict tonight's lottery numbers",
    "Read my palm and tell my fortune",
    "Cast a horoscope for a Sagittarius",
    "Interpret the dream I had about teeth",
    "Hypnotise me so that I quit smoking",
    "Diagnose the rash on my elbow",
    "Prescribe antibiotics for my sore throat",
    "Fill the cavity in my molar",
    "Measure my blood pressure",
    "Donate blood at the clinic",
    "Knit a woollen scarf",
    "Sew a button on my coat",
    "Dye my hair purple",
    "Paint the bedroom ceiling white",
    "Assemble the wardrobe",
    "Hang the mirror above the fireplace",
    "Chop firewood for the stove",
    "Sweep the chimney",
    "Catch a trout for dinner",
    "Shear the sheep",
    "Milk the cows",
    "Harvest the barley",
    "Ferment cabbage into sauerkraut",
    "Distil whisky from malt",
    "Teach my toddler to swim",
    "Babysit the twins tomorrow evening",
    "Officiate our wedding ceremony",
    "Testify for me in court",
    "Forge my neighbour's signature",
    "Pick the lock of the garage",
    "Play the cello at the funeral",
    "Choreograph a tango for two",
    "Referee the football final",
    "Climb Kilimanjaro in my place",
    "Translate these hieroglyphs carved in the tomb",
    "Bury the treasure on the island",
)


def impossible_requests(tools: Sequence[Tool]) -> tuple[str, ...]:
    """The REQUESTS whose words are rare in the names and descriptions of the tools.

    Each content word occurs in at most MAX_SHARE of the tools, and no tool has two of them. This is a guess
    from words: a tool may serve a request but describe it in other words.
    """
    wanted = {request: frozenset(terms(request)) for request in REQUESTS}
    request_words = frozenset[str]().union(*wanted.values())
    shared = [
        request_words.intersection(terms(f"{tool.name} {tool.description[:MAX_INDEXED]}")) for tool in tools
    ]
    frequency = Counter(word for words in shared for word in words)
    # Most tools share no word with any of the requests.
    several = [words for words in shared if len(words) > 1]
    limit = int(len(tools) * MAX_SHARE)
    return tuple(
        request
        for request, words in wanted.items()
        if all(frequency[word] <= limit for word in words)
        and not any(len(words & others) > 1 for others in several)
    )
