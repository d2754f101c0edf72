"""The console of administrators at ``/admin/``: every table to look at, and figures of the machine (ECOSYSTEM D.10)."""
