"""
What controller and agents say to each other: messages, their JSON form, and their signatures.

Pure: standard library only, no clock, no I/O, no randomness. Both sides import this package and nothing of
each other.
"""
