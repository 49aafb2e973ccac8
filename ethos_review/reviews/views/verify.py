"""Verifying a release that someone brings, and the keys that anyone needs for it."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_http_methods, require_safe

from ethos_review.engine.keys import key_set_to_json
from ethos_review.engine.verification import GivenDocument, verify_release
from ethos_review.reviews.kept import compare_with_kept
from ethos_review.reviews.signing import trusted_keys
from ethos_review.web.htmx import Request, tell_script, wants_fragment
from ethos_review.web.permissions import SIGNED_IN, anonymous, permission_required

LARGEST = 64 * 1024 * 1024  # bytes of an envelope that are looked at here; the command takes larger ones


@permission_required(SIGNED_IN)
@require_http_methods(["GET", "HEAD", "POST"])
def verify(request: Request) -> HttpResponse:
    if request.method != "POST":
        return render(request, "reviews/verify.html")
    context = _verified(request)
    if not wants_fragment(request):
        return render(request, "reviews/verify.html", context)
    return tell_script(render(request, "reviews/_verify_answer.html", context), focus="verify-result")


def _verified(request: Request) -> dict[str, object]:
    file = request.FILES.get("envelope")
    content = file.read(LARGEST + 1) if isinstance(file, UploadedFile) else b""
    if len(content) > LARGEST:
        return {"refusal": "This file has more than 64 MiB. Verify it with the command below."}
    content = content or request.POST.get("text", "").encode("utf-8", "replace")
    if not content.strip():
        return {"refusal": "Choose the file of an envelope, or paste its text."}
    given = [_given(document) for document in request.FILES.getlist("documents")]
    verification = verify_release(content, trusted_keys(), given)
    release = verification.release
    return {
        "verification": verification,
        "predicate": release.statement["predicate"] if release else None,
        "kept": compare_with_kept(request.user, release) if release else None,
    }


def _given(document: UploadedFile[Any]) -> GivenDocument:
    digest = hashlib.sha256()
    for chunk in document.chunks():
        digest.update(chunk)
    return GivenDocument(document.name or "document", digest.hexdigest())


@anonymous
@require_safe
@cache_control(public=True, max_age=300)
def key_set(request: HttpRequest) -> HttpResponse:
    content = json.dumps(key_set_to_json(trusted_keys()), indent=2)
    return HttpResponse(content, content_type="application/json")
