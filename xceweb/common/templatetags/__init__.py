"""The template library ``xce``."""
