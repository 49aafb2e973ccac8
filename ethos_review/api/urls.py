"""Addresses of the API."""

from __future__ import annotations

from django.urls import path

from ethos_review.api import views

urlpatterns = [
    path("openapi.json", views.describe, name="api_description"),
    path("check", views.check, name="api_check"),
    path("reviews", views.reviews, name="api_reviews"),
    path("reviews/<uuid:review_id>", views.review, name="api_review"),
    path("reviews/<uuid:review_id>/release", views.release, name="api_release"),
    path(
        "reviews/<uuid:review_id>/contract-decision",
        views.contract_decision,
        name="api_contract_decision",
    ),
    path("reviews/<uuid:review_id>/documents/<str:role>", views.document, name="api_document"),
]
