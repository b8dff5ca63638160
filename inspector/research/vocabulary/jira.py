"""A tracker: work, who does it, and how it flows."""

from inspector.research.vocabulary.word import Domain, entities

JIRA = Domain(
    server="jira",
    scope="project",
    where=("in project PAY", "on the OPS board", "in Jira under MOB", "among the tickets of the web team"),
    located=("project_key",),
    entities=entities(
        """
issue = ticket; story; work item
a piece of work with status, assignee and fields
PAY-142; the refund story; MOB-9
summary description priority labels due_date
list get create update search transition assign comment link

sprint = iteration; two-week cycle; time box
a period of work with a goal and its issues
Sprint 31; the current one; the one before the holidays
name goal start_date end_date
list get create update close

epic = big theme; umbrella ticket; large body of work
a large goal that many issues belong to
checkout redesign; PAY-7; the migration to the cloud
name summary color
list get create assign rank

board = kanban wall; scrum wall; team view
a view of work in columns
the support wall; OPS; the one of platform
name kind filter
list get create

comment = remark; note under a ticket; answer in the thread
a remark under an issue
Kim's answer; the last one on PAY-142; the note of the customer
body visibility
list create update delete

worklog = time entry; booked hours; logged effort
time that somebody spent on an issue
yesterday's three hours; my Monday; entry 88
time_spent started comment
list create delete

attachment = uploaded file; screenshot on a ticket; enclosed document
a file that belongs to an issue
error.png; the contract scan; the trace of last night
file comment
list get create delete

workflow = flow of states; process; life cycle
the statuses and transitions of issues
the bug process; the approval flow; the simple one
name statuses transitions
list get update

version = fix release; delivery; planned drop
a release that issues are fixed in
2.5; the autumn delivery; MOB 1.0
name description release_date released
list create update close

component = part of the product; module; subsystem
a part of a project with its own lead
payments; the search box; the iOS client
name lead description
list create update

user = colleague; teammate; account holder
an account with name and permissions
Kim; the new tester; the owner of PAY
display_name email active
search get assign

filter = saved query; stored view; bookmark of a search
a stored search that can be shared
my overdue list; the triage view; filter 4410
name jql description
list get create

project = product space; key space; area of work
a collection of issues with its own settings
PAY; the mobile effort; the internal tools
name lead description category
list get create

dashboard = overview screen; status wall; chart page
a page of charts about work
the burn-down screen; the one for management; team health
name gadgets permissions
list get create

priority = urgency level; importance; severity grade
a level of importance
blocker; P2; the lowest one
name color description
list create

custom field = extra attribute; additional column; own property
an attribute that a project adds to its issues
customer tier; the risk score; story points
name kind options
list create update

subtask = child ticket; smaller piece; step of a story
a part of an issue
the test of PAY-142; writing the docs; MOB-9-a
summary assignee
list create transition

issue link = dependency; relation of tickets; blocking tie
a relation between two issues
the block on PAY-7; the duplicate of MOB-9; the cause of OPS-3
relation source target
list create delete

permission scheme = access rules; rights; role matrix
who may do what in a project
the default rules; the one for partners; external access
name grants description
list get update

automation rule = automatism; trigger; bot rule
something that happens by itself on an event
the auto-close; the reminder on Fridays; rule 6
name trigger actions enabled
list create update

service request = customer query; help desk case; support call
a request that came in from outside
the broken invoice; case 501; the call from Acme
summary reporter kind
list get create assign transition

approval = sign-off; permission to go on; release consent
a decision that a workflow waits for
the go for 2.5; Kim's sign-off; the budget one
decision comment
list get update
"""
    ),
)
