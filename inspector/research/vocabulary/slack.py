"""A workspace of people who talk."""

from inspector.research.vocabulary.word import Domain, entities

SLACK = Domain(
    server="slack",
    scope="workspace",
    where=("in Slack", "in the #releases room", "in our team chat", "in #support on Slack"),
    located=("channel",),
    entities=entities(
        """
message = chat post; written note; chat line
a text that somebody wrote in a channel
the complaint about CSAT; Kim's answer; the note on the outage
text blocks
post search get schedule update react pin delete

channel = room; chat group; conversation space
a room with its members and topic
#releases; the incident room; #random
name topic purpose private
list create invite archive get

user = person in the chat; teammate; member
a member of the workspace
Kim; the new designer; whoever is on call
display_name title status
list get search

thread = string of replies; discussion below a post; side conversation
the replies to a message
the one on pricing; the talk below the outage note; Monday's
text broadcast
get list watch export

file = upload; shared document; picture somebody dropped
a document that somebody shared
the slide deck; budget.xlsx; the photo from the fair
title comment
list create search get

reminder = nudge; alarm; note to self
a text that comes back at a given time
the one for stand-up; my tax nudge; the review at five
text time recurring
create list delete

user group = mention group; handle for many; on-call handle
a handle that stands for many people
@backend; the press crew; @support-eu
name handle users
list create update

status = presence line; away note; mood text
what a person shows beside the name
on holiday; in a meeting; the sick note
text emoji expires_at
update get

bookmark = link on top of a room; saved address; quick link
a link at the top of a channel
the runbook; the holiday calendar; our wiki page
title url emoji
list create delete

canvas = shared page; document in the chat; notebook
a page of text inside a channel
the welcome page; minutes of Tuesday; the launch plan
title content
create get update

workflow = chat automation; form flow; bot routine
steps that run on a trigger
the onboarding form; the vacation request; the stand-up bot
name steps trigger
list create
"""
    ),
)
