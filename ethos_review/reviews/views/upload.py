"""Uploading documents: look at the decision only, or submit them for review."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from ethos_review.engine.errors import DocumentError
from ethos_review.reviews import operations
from ethos_review.reviews.forms import UploadForm
from ethos_review.web.htmx import Request, lead_to, tell_script, wants_fragment
from ethos_review.web.permissions import permission_required


@permission_required("reviews.submit_review")
@require_http_methods(["GET", "HEAD", "POST"])
def upload(request: Request) -> HttpResponseBase:
    if request.method != "POST":
        return render(request, "reviews/upload.html")
    form = UploadForm(request.POST, request.FILES)
    try:
        uploads = form.uploads(operations.current_policy().limits.document_bytes) if form.is_valid() else []
        if request.POST.get("action") != "submit":
            return _answer(request, {"assessment": operations.check_uploads(uploads)})
        submitted = operations.submit_review(
            actor=request.user, uploads=uploads, again=form.cleaned_data.get("again", False)
        )
    except DocumentError as refused:
        return _answer(request, {"problems": refused.problems}, status=400)
    if submitted.created:
        messages.success(request, "Submitted for review.")
    else:
        messages.info(request, "These bytes were submitted before; this is the review they already have.")
    return lead_to(request, "review", submitted.review.review_id)


def _answer(request: Request, context: dict[str, object], status: int = 200) -> HttpResponse:
    if not wants_fragment(request):
        return render(request, "reviews/upload.html", context, status=status)
    response = render(request, "reviews/_upload_answer.html", context, status=status)
    return tell_script(response, focus="upload-result")


@permission_required("reviews.submit_review")
@require_POST
def load_sample(request: Request) -> HttpResponse:
    count = operations.load_sample(actor=request.user)
    messages.success(request, f"{count} sample reviews were loaded.")
    return redirect("queue")
