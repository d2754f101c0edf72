"""Commands of ``bin/manage``."""
