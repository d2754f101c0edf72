#!/usr/bin/env python3
"""Starts Django commands; nothing else."""

import os
import sys

from django.core import management

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "xceweb.settings.local")
    management.execute_from_command_line(sys.argv)
