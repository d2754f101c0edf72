"""Whom to stop: eligibility, the exact smallest set, and the policies that choose."""
