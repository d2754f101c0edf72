#!/usr/bin/env python3
"""Starts Django commands; nothing else."""

import os
import sys

from django.core import management
from django.db import utils

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "xceweb.settings.local")
    os.environ.setdefault("XCE_LOG_LEVEL", "WARNING")  # a command's answer stands alone on the screen
    try:
        management.execute_from_command_line(sys.argv)
    except utils.ProgrammingError as error:
        if "does not exist" not in str(error):
            raise
        sys.exit(
            f"error: the database is not prepared ({str(error).splitlines()[0]}). Start it once with bin/up; "
            "another data directory is named by bin/manage --data-dir DIR."
        )
