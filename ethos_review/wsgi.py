"""The WSGI application for gunicorn and other servers."""

import gc
import os
from io import StringIO

import django
from django.core.management import call_command

from ethos_review.web.handler import Handler

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ethos_review.settings")
django.setup(set_prefix=False)
application = Handler()
call_command("check", stdout=StringIO())  # what is missing in production stops the start, with its next step
gc.freeze()  # what was loaded stays; no collection needs to walk over it again
