"""A forge: repositories and what is in them."""

from inspector.research.vocabulary.word import Domain, entities

GITHUB = Domain(
    server="github",
    scope="repository",
    where=("in acme/web", "in the billing repo", "in our api repository", "on GitHub under acme/mobile"),
    located=("owner", "repo"),
    entities=entities(
        """
pull request = PR; merge proposal; change up for review
a proposed change with its commits and reviews
the login rewrite; number 482; the cache fix
title body base_branch head_branch draft
list get create merge search comment

issue = bug report; open problem in the code; reported defect
a report or request with labels and a discussion
the crash on start; number 77; the broken dark mode
title body labels milestone
list get create search close comment label

repository = repo; code base; project checkout
a code base with its branches and settings
acme/web; the mobile app; the old monolith
name description visibility default_branch
list get create search update

branch = line of development; feature line; head
a named line of commits
feature/login; release-2.4; the spike on caching
name from_ref protected
list create delete compare

commit = revision; changeset; check-in
one change of the code with author and message
9f3ac1; last night's hotfix; the one that broke the build
message tree parents
list get search compare

file content = source file; code of a module; text in the repo
the text of a file at a given revision
README.md; src/auth.py; the docker setup
path content branch message
get search update create

workflow run = CI build; pipeline; automated check
one execution of the continuous integration
build 1841; the nightly tests; the deploy of yesterday
workflow inputs ref
list get rerun search

release = published version; shipped build; tagged drop
a published version with notes and downloads
v3.2.0; the summer edition; the latest beta
tag title notes prerelease
list get create update

review = code review; approval; reviewer verdict
the verdict of a reviewer on a pull request
the one by Kim; the request for changes; the approval of Monday
verdict body comments
list create get

code scanning alert = security finding; static analysis hit; vulnerability in the code
a weakness that an analysis of the code found
the SQL injection warning; alert 12; the unsafe deserialisation
state severity dismissed_reason
list get close

collaborator = person with access; contributor; member of the repo
a person who may read or write
Kim; the new intern; the contractor
user permission
list create delete

webhook = callback; HTTP notification; event hook
an address that is called when something happens
the deploy trigger; the chat notifier; hook 5
url events secret active
list create delete

milestone = release goal; delivery target; planned date
a goal with a date that issues belong to
Q3 launch; 2.5; the accessibility goal
title due_on description
list create close

gist = snippet; pasted code; shared fragment
a piece of code that is shared on its own
the regex test; my shell tricks; the sample config
files description public
list get create

secret = hidden variable; credential for builds; encrypted setting
an encrypted value for workflows
DEPLOY_KEY; the npm token; the signing password
name value environment
list create delete

package = published artifact; container image; library upload
a published artifact with its versions
acme-ui; the base image; the Java client
name kind visibility
list get delete

deployment = rollout; push to production; environment update
a version that went to an environment
the rollout to staging; last Friday's; number 310
ref environment description
list get create

environment = deploy target; stage; place to run
a target of deployments with its rules
staging; production; the demo site
name reviewers wait_minutes
list get update

discussion = forum thread; conversation; community question
a conversation that is no task
the roadmap talk; the question on licences; thread 9
title body category
list get create comment

team = group of people; squad; crew
a group of members with shared access
the platform crew; frontend; the on-call group
name members permission
list get create
"""
    ),
)
