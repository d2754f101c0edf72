"""Signing in and out. The user model itself is the scheduler's."""
