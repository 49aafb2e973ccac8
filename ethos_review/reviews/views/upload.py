"""Uploading documents: look at the decision only, or submit them for review."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from uuid import uuid4

from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from ethos_review.engine.errors import DocumentError, Problem
from ethos_review.reviews import operations, queries
from ethos_review.reviews.forms import UploadForm
from ethos_review.reviews.models import Document
from ethos_review.reviews.operations import Upload
from ethos_review.reviews.policies import current_policy
from ethos_review.reviews.views.checked import checked_page
from ethos_review.web.htmx import Request, lead_to, tell_script, wants_fragment
from ethos_review.web.permissions import permission_required


@permission_required("reviews.submit_review")
@require_http_methods(["GET", "HEAD", "POST"])
def upload(request: Request) -> HttpResponseBase:
    if request.method != "POST":
        return _page(request, {})
    form = UploadForm(request.POST, request.FILES)
    uploads = form.uploads(current_policy().limits.document_bytes) if form.is_valid() else []
    try:
        if request.POST.get("action") != "submit":
            assessment = operations.check_uploads(uploads, actor=request.user)
            existing = operations.existing_review(actor=request.user, uploads=uploads)
            return _answer(request, {"checked": checked_page(assessment), "existing": existing})
        submitted = operations.submit_review(
            actor=request.user, uploads=uploads, again=form.cleaned_data.get("again")
        )
    except DocumentError as refused:
        return _answer(request, {"problems": _problems(uploads, refused)}, status=400)
    if submitted.created:
        messages.success(request, queries.what_comes_next(request.user, submitted.review))
    else:
        messages.info(
            request,
            "These bytes were submitted before; this is the review they already have.",
            extra_tags="submitted-before",  # how to submit them again, with a link, stands in the template
        )
    return lead_to(request, "review", submitted.review.review_id)


def _problems(uploads: list[Upload], refused: DocumentError) -> Sequence[Problem]:
    named = any(problem.document == "release" for problem in refused.problems)
    return refused.problems if named else _releases_among(uploads) or refused.problems


def _releases_among(uploads: list[Upload]) -> list[Problem]:
    """A release in the place of a report would only be told that no verifier signed it."""
    found: list[Problem] = []
    for upload in uploads:
        if b'"payloadType"' not in upload.content:
            continue
        try:
            operations.recognise_upload(replace(upload, role=""))
        except DocumentError as refused:
            found += [problem for problem in refused.problems if problem.document == "release"]
    return found


@permission_required("reviews.submit_review")
@require_POST
def recognise(request: Request, role: str) -> HttpResponse:
    """Say what one file is as soon as it is chosen; `any` is a file that was dropped on the page."""
    if role != "any" and role not in Document.Role.values:
        raise Http404
    file = next(iter(request.FILES.values()), None)
    line: dict[str, object] = {"role": role if role != "any" else ""}
    if not isinstance(file, UploadedFile):
        return render(request, "reviews/_file_line.html", line)
    content = file.read(current_policy().limits.document_bytes + 1)
    line |= {"name": file.name, "size": file.size}
    try:
        found = operations.recognise_upload(Upload(str(line["role"]), file.name or "", "", content))
    except DocumentError as refused:
        line["problems"] = refused.problems
        return render(request, "reviews/_file_line.html", line, status=400)
    return render(request, "reviews/_file_line.html", line | {"role": found.kind, "found": found})


def _answer(request: Request, context: dict[str, object], status: int = 200) -> HttpResponse:
    if not wants_fragment(request):
        return _page(request, context, status)
    response = render(request, "reviews/_upload_answer.html", context, status=status)
    return tell_script(response, focus="upload-result")


def _page(request: Request, context: dict[str, object], status: int = 200) -> HttpResponse:
    return render(request, "reviews/upload.html", context | {"again": uuid4()}, status=status)


@permission_required("reviews.submit_review")
@require_POST
def load_sample(request: Request) -> HttpResponse:
    count = operations.load_sample(actor=request.user)
    messages.success(request, f"{count} sample reviews were loaded.")
    return redirect("queue")
