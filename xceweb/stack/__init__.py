"""
The processes around the application: embedded servers, their data directory, one supervising command.

Plain Python without Django, so that it starts before anything else is configured. Nothing in the application
imports it; it is what `bin/up`, `bin/test` and `bin/manage` run.
"""
