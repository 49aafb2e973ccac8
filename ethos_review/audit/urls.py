"""Addresses of the audit pages."""

from __future__ import annotations

from django.urls import path

from ethos_review.audit import views

urlpatterns = [
    path("audit/", views.events, name="audit"),
    path("audit/export.jsonl", views.export, name="export_audit"),
    path("audit/checkpoint.dsse.json", views.checkpoint, name="download_checkpoint"),
]
