"""Addresses of the console: three for each table, made from the listings."""

from __future__ import annotations

from xceweb.admin import listing
from xceweb.admin.listings import cluster, decisions, people, record, rules, work
from xceweb.admin.site import console

for family in (work, decisions, cluster, rules, people, record):
    listing.register(console, family.LISTINGS)

app_name = "admin"
urlpatterns = console.get_urls()
