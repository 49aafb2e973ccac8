"""The WSGI application for gunicorn and other servers."""

import gc
import os
from io import StringIO

from django.core.management import call_command
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ethos_review.settings")
application = get_wsgi_application()
call_command("check", stdout=StringIO())  # what is missing in production stops the start, with its next step
gc.freeze()  # what was loaded stays; no collection needs to walk over it again
