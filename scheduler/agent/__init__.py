"""
The worker daemon of a node: `python -m scheduler.agent`. No Django, no database.

It carries out signed commands and answers with evidence. Processes belong to small supervisors (`shepherd`)
that outlive it. Nothing here imports Celery but `app`.
"""

VERSION = "1.0"
