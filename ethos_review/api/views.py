"""The acts of the API: each calls the operation or query that the pages call, too."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.http import content_disposition_header
from django.views.decorators.csrf import csrf_exempt

from ethos_review.accounts.scopes import READ, SUBMIT
from ethos_review.api.access import ProgramRequest, act, address, method_not_allowed
from ethos_review.api.answers import address_of, page_to_json, review_to_json
from ethos_review.api.description import description
from ethos_review.api.requests import JSON, Unusable, choice_in, uploads_in, uuid_in
from ethos_review.engine.documents import Json
from ethos_review.engine.errors import DocumentError
from ethos_review.engine.outcome import outcome_to_json
from ethos_review.reviews import operations, queries
from ethos_review.reviews.models import Release, Review
from ethos_review.reviews.own_reviews import UnknownCursor, own_review, own_reviews
from ethos_review.web.permissions import anonymous
from ethos_review.web.problems import problem


@act(SUBMIT, "again")
def submit(request: ProgramRequest) -> HttpResponse:
    again = uuid_in(request, "again")
    try:
        submitted = operations.submit_review(actor=request.user, uploads=uploads_in(request), again=again)
    except DocumentError as refused:
        return _refused(refused)
    review = own_review(request.user, submitted.review.review_id)
    said = review_to_json(review) | {"already_submitted": not submitted.created}
    if submitted.created:
        return _json(said, status=201, headers={"Location": address_of(review)})
    return _json(said)


@act(SUBMIT)
def check_documents(request: ProgramRequest) -> HttpResponse:
    try:
        assessment = operations.check_uploads(uploads_in(request), actor=request.user)
        return _json(outcome_to_json(assessment))
    except DocumentError as refused:
        return _refused(refused)


@act(READ, "status", "cursor")
def list_reviews(request: ProgramRequest) -> HttpResponse:
    status = choice_in(request, "status", Review.Status.values)
    try:
        page = own_reviews(request.user, status=status, cursor=request.GET.get("cursor", ""))
    except UnknownCursor:
        raise Unusable(400, "`cursor` is not one of this list. Follow `next` of the page before.") from None
    return _json(page_to_json(page, status))


@act(READ)
def show_review(request: ProgramRequest, review_id: UUID) -> HttpResponse:
    return _json(review_to_json(own_review(request.user, review_id)))


@act(READ)
def download_release(request: ProgramRequest, review_id: UUID) -> HttpResponse:
    try:
        release = queries.release_of(request.user, review_id)
    except Release.DoesNotExist:
        own_review(request.user, review_id)
        raise Unusable(
            404, "This review is not sealed yet. Ask for it again once its status is `sealed`."
        ) from None
    return _file(bytes(release.envelope), "release.dsse.json")


@act(READ)
def download_contract_decision(request: ProgramRequest, review_id: UUID) -> HttpResponse:
    return _file(queries.contract_decision_of(request.user, review_id), "contract-decision.json")


@act(READ)
def download_document(request: ProgramRequest, review_id: UUID, role: str) -> HttpResponse:
    document = queries.document_of(request.user, review_id, role)
    return _file(bytes(document.content), document.name)


@anonymous
@csrf_exempt
def describe(request: HttpRequest) -> HttpResponse:
    """It says nothing about reviews, so that whoever builds a program needs no token to read it."""
    if request.method not in ("GET", "HEAD"):
        return method_not_allowed("get")
    return HttpResponse(description(), content_type=JSON)


reviews = address(get=list_reviews, post=submit)
check = address(post=check_documents)
review = address(get=show_review)
release = address(get=download_release)
contract_decision = address(get=download_contract_decision)
document = address(get=download_document)


def _refused(refused: DocumentError) -> HttpResponse:
    too_large = any(found.code == "document_too_large" for found in refused.problems)
    count = len(refused.problems)
    said = "1 problem" if count == 1 else f"{count} problems"
    return problem(
        413 if too_large else 422,
        f"The documents cannot be used, and nothing was stored: {said}, each with its place and the next step.",
        problems=[found.to_json() for found in refused.problems],
    )


def _json(value: dict[str, Json], status: int = 200, headers: dict[str, str] | None = None) -> HttpResponse:
    return JsonResponse(value, status=status, headers=headers, json_dumps_params={"ensure_ascii": False})


def _file(content: bytes, name: str) -> HttpResponse:
    """Byte for byte; never with the media type that the uploader named."""
    return HttpResponse(
        content, content_type=JSON, headers={"Content-Disposition": content_disposition_header(True, name)}
    )
