"""All addresses."""

from __future__ import annotations

from django.urls import include, path

from ethos_review.web.health import healthz

urlpatterns = [
    path("", include("ethos_review.reviews.urls")),
    path("", include("ethos_review.accounts.urls")),
    path("", include("ethos_review.audit.urls")),
    path("api/v1/", include("ethos_review.api.urls")),
    path("healthz", healthz, name="healthz"),
]

handler400 = "ethos_review.web.errors.bad_request"
handler403 = "ethos_review.web.errors.forbidden"
handler404 = "ethos_review.web.errors.not_found"
handler500 = "ethos_review.web.errors.server_error"
