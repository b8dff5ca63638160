"""A relational database: what is in it, and how it is laid out."""

from inspector.research.vocabulary.word import Domain, entities

DATABASE = Domain(
    server="database",
    scope="database",
    where=(
        "in the orders database",
        "in the warehouse",
        "in Postgres on the reporting host",
        "in our CRM tables",
    ),
    located=("database", "schema"),
    entities=entities(
        """
row = record; entry; line of data
a record of a table
the orders of May; the customer 8812; the refunds
values condition
query insert update delete count export

table = relation; data set; collection of records
columns, types and keys of stored records
orders; invoices; the customer list
name columns primary_key
list describe create alter delete

index = lookup structure; access path; key accelerator
a structure that makes lookups fast
orders_by_date; the one on email; the unique one on sku
name columns unique method
list create delete describe

view = virtual table; prepared query; derived relation
a stored query that reads like a table
monthly_revenue; active_users; the sales summary
name query materialized
list describe create query

column = attribute; field of a record; table property
a field of a table with its type
created_at; the price; the e-mail address
name type nullable default
list create alter describe

query = SQL statement; slow statement; select
a statement with its plan and cost
the monthly report; the join over orders; what runs at night
text timeout
explain list history

schema = namespace; layout; group of tables
a namespace of tables with an owner
public; staging_area; the audit part
name owner
list describe create

transaction = unit of work; open session; lock holder
statements that succeed or fail together
the stuck one; number 5519; the nightly load
isolation read_only
list create get

migration = structural change; upgrade step; version script
a numbered change of the structure
0042; adding the tax field; the rename of users
version statement
list create history

backup = dump; safety copy; saved state
a copy of all data at a time
last night's; the one before the upgrade; Sunday's
label retention
list create restore

role = login; database account; group of rights
an account with its rights
reporting; the etl login; read_only
name privileges password_valid_until
list create update

constraint = rule on data; check; foreign key
a rule that records have to keep
the unique e-mail; the reference to customers; positive_price
name kind expression
list create delete

stored procedure = routine; function inside the server; server-side code
code that runs inside the database
close_month; the vat routine; recompute_totals
name arguments body
list describe create
"""
    ),
)
