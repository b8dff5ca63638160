"""How people put a request: what surrounds it, what it is about, and turns that need no tool."""

OPENINGS = (
    *([""] * 8),
    "Hi, ",
    "Could you help me: ",
    "Quick one: ",
    "Please, ",
    "When you have a minute: ",
    "For the meeting at ten: ",
)
CLOSINGS = (*([""] * 8), " Thanks!", " It is rather urgent.", " No hurry.", " Kim is waiting for it.")
JOINTS = ("Then ", "After that, ", "Next, ", "Once that is done, ", "And finally, ")
TOPICS = (
    "the login failures",
    "the drop in satisfaction last week",
    "slow checkout on phones",
    "the new price list",
    "expired certificates",
    "the move to the second data centre",
    "double charges on invoices",
    "the accessibility audit",
    "memory leaks after midnight",
    "the partner programme",
    "missing translations",
    "rate limits of the public API",
    "the onboarding of new customers",
    "broken avatars",
    "the outage on Tuesday",
    "dark mode",
)
PEOPLE = (
    "Kim",
    "Amira",
    "the intern",
    "Jonas from support",
    "our product owner",
    "Sofia",
    "the on-call engineer",
)
TIMES = ("this week", "since Monday", "in the last month", "yesterday", "over the past quarter")
SMALL_TALK = (
    "Thanks, that is what I was after.",
    "Good. Give me a second to read it.",
    "Summarise that in one sentence, please.",
    "Hm, is that more or less than what we expected?",
    "Okay, let us go on with the next point.",
    "Can you say that in simpler words?",
    "That surprises me. Why do you think so?",
    "Fine by me.",
    "Which of the two would you pick, and why?",
    "No, leave it as it is for now.",
    "Write me two sentences that I can forward.",
    "Sorry, I was away. Where were we?",
    "What would you do in my place?",
    "Great, one thing less on the list.",
)
