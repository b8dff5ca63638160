"""What can be found and read on the web."""

from inspector.research.vocabulary.word import Domain, entities

WEB = Domain(
    server="web",
    scope="site",
    where=("on the internet", "on example.com", "on the vendor's site", "online"),
    located=("url",),
    usual=("search", "fetch", "check", "compare", "watch", "history", "export", "count", "archive", "list"),
    entities=entities(
        """
page = web site; article on the net; address
a document at a URL
the pricing page; the release announcement; our landing page
language max_length
search fetch capture check compare

link = reference to another page; outgoing address; hyperlink
an address that a page refers to
the sources; the download button; the footer
target
extract check

table = grid of figures; tabular data; price matrix
rows and columns on a page
the exchange rates; the league standings; the comparison of plans
selector
extract

news article = press story; headline; report in the media
a text of a news site with date and author
the merger story; yesterday's headline; the interview
language date
search fetch

image = picture; photo; illustration
a picture that a page shows
the company logo; the product shot; a map of Oslo
size license
search extract

video = clip; film; recording
a film with title and transcript
the keynote; the tutorial; the trailer
language
search fetch

feed = news ticker; RSS source; stream of updates
a list of updates that a site offers
the security bulletins; the blog; the podcast
max_items
fetch watch

sitemap = page inventory; list of addresses; site overview
all the addresses of a site
the shop's; the documentation's; ours
depth
fetch list

certificate = TLS proof; https lock; encryption papers
what proves who a site is
the one of the shop; the wildcard; the one that expires
host
check get
"""
    ),
)
