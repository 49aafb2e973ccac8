"""Addresses for signing in and for preferences."""

from __future__ import annotations

from django.urls import path

from ethos_review.accounts import views

urlpatterns = [
    path("sign-in/", views.sign_in, name="sign_in"),
    path("sign-out/", views.sign_out, name="sign_out"),
    path("preferences/", views.preferences, name="preferences"),
]
