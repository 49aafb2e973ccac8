"""A review as the API shows it."""

from __future__ import annotations

from urllib.parse import urlencode

from django.urls import reverse

from ethos_review.audit.operations import rfc3339
from ethos_review.engine.documents import Json
from ethos_review.reviews.models import Release, Review
from ethos_review.reviews.own_reviews import OwnReviews


def review_to_json(review: Review) -> dict[str, Json]:
    """`review` is one of own_reviews: its release and documents are joined."""
    release: Release | None = getattr(review, "release", None)
    return {
        "review_id": str(review.review_id),
        "external_id": review.external_id or None,
        "supersedes": str(review.supersedes.review_id) if review.supersedes else None,
        "status": review.status,
        "submitted_at": rfc3339(review.submitted_at),
        "engine_version": review.engine_version,
        "app_status": review.app_status,
        "counts": {
            "claims": review.claim_count,
            "undecided": review.undecided_count,
            "released": review.released_count,
            "withheld": review.withheld_count,
        },
        "sealed_at": rfc3339(release.sealed_at) if release else None,
        "answer_status": release.answer_status if release else None,
        "documents": [
            {
                "role": document.role,
                "name": document.name,
                "size": document.size,
                "sha256": document.sha256,
                "href": reverse("api_document", args=[review.review_id, document.role]),
            }
            for document in review.documents.all()
        ],
        "links": {
            "self": address_of(review),
            "contract_decision": reverse("api_contract_decision", args=[review.review_id]),
            "release": reverse("api_release", args=[review.review_id]) if release else None,
        },
    }


def page_to_json(page: OwnReviews, status: str) -> dict[str, Json]:
    asked = {"status": status, "cursor": page.next_cursor}
    query = urlencode({name: value for name, value in asked.items() if value})
    return {
        "reviews": [review_to_json(review) for review in page.reviews],
        "next": f"{reverse('api_reviews')}?{query}" if page.next_cursor else None,
    }


def address_of(review: Review) -> str:
    return reverse("api_review", args=[review.review_id])
