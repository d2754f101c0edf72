"""
Whom to stop: eligibility, the exact smallest set, and the policies that choose.

``owner_job_priority`` serves the owner axis and cannot be chosen for a queue; a queue without a policy of its
own uses ``lowest_priority_first``.
"""
