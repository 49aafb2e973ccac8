"""The help page: which documents there are, and what the words on the pages mean."""

from __future__ import annotations

import json

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from ethos_review.reviews.glossary import BADGES, EXAMPLES, TERMS
from ethos_review.web.htmx import Request
from ethos_review.web.permissions import SIGNED_IN, permission_required


@permission_required(SIGNED_IN)
@require_safe
def help_page(request: Request) -> HttpResponse:
    examples = [(example, json.dumps(example.value, indent=2)) for example in EXAMPLES]
    return render(request, "reviews/help.html", {"examples": examples, "terms": TERMS, "badges": BADGES})
