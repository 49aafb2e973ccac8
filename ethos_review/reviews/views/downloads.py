"""Downloads: the documents exactly as received, the contract decision, the signed envelope, public keys."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_safe

from ethos_review.reviews import queries
from ethos_review.web.htmx import Request
from ethos_review.web.permissions import SIGNED_IN, permission_required


@permission_required("reviews.view_review")
@require_safe
def document(request: Request, review_id: UUID, role: str) -> HttpResponse:
    found = queries.document_of(request.user, review_id, role)
    return _attachment(bytes(found.content), found.name)


@permission_required("reviews.view_review")
@require_safe
def contract_decision(request: Request, review_id: UUID) -> HttpResponse:
    return _attachment(queries.contract_decision_of(request.user, review_id), "contract-decision.json")


@permission_required("reviews.view_review")
@require_safe
def envelope(request: Request, review_id: UUID) -> HttpResponse:
    return _attachment(bytes(queries.release_of(request.user, review_id).envelope), "release.dsse.json")


@permission_required(SIGNED_IN)
@require_safe
def public_key(request: Request, key_id: str) -> HttpResponse:
    return _attachment(queries.public_key(key_id), "public.pem", "application/x-pem-file")


def _attachment(content: bytes, name: str, media_type: str = "application/json") -> HttpResponse:
    """Never with the media type that the uploader named: no browser is to render what was uploaded."""
    response = HttpResponse(content, content_type=media_type)
    response["Content-Disposition"] = content_disposition_header(True, name)
    return response
