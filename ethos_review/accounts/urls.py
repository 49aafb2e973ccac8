"""Addresses for signing in, for one's own account, and for people.

The names that allauth itself looks up keep allauth's form.
"""

from __future__ import annotations

from django.urls import path

from ethos_review.accounts import people, token_pages, views

urlpatterns = [
    path("sign-in/", views.sign_in, name="sign_in"),
    path("sign-in/", views.sign_in, name="account_login"),
    path("sign-in/code/", views.enter_code, name="mfa_authenticate"),
    path("sign-in/openid/", views.openid_sign_in, name="openid_sign_in"),
    path("sign-in/openid/callback/", views.openid_callback, name="openid_callback"),
    path("sign-in/password/<int:person_id>/", views.choose_password, name="choose_password"),
    path("sign-in/end/", views.sign_in_end, name="sign_in_end"),
    path("sign-out/", views.sign_out, name="sign_out"),
    path("sign-out/everywhere/", views.sign_out_everywhere, name="sign_out_everywhere"),
    path("preferences/", views.preferences, name="preferences"),
    path("preferences/password/", views.change_password, name="change_password"),
    path("preferences/confirm/", views.confirm_by_password, name="account_reauthenticate"),
    path("preferences/confirm/code/", views.confirm_by_code, name="mfa_reauthenticate"),
    path("preferences/confirm/passkey/", views.confirm_by_passkey, name="mfa_reauthenticate_webauthn"),
    path("preferences/confirm/openid/", views.confirm_by_openid, name="confirm_by_openid"),
    path(
        "preferences/confirm/openid/provider/",
        views.confirm_at_openid_provider,
        name="confirm_at_openid_provider",
    ),
    path("preferences/second-factor/", views.second_factor, name="mfa_index"),
    path("preferences/second-factor/", views.second_factor, name="mfa_list_webauthn"),
    path("preferences/second-factor/app/", views.activate_totp, name="mfa_activate_totp"),
    path("preferences/second-factor/app/remove/", views.deactivate_totp, name="mfa_deactivate_totp"),
    path("preferences/second-factor/passkeys/new/", views.add_passkey, name="mfa_add_webauthn"),
    path("preferences/second-factor/passkeys/<int:pk>/", views.name_passkey, name="mfa_edit_webauthn"),
    path(
        "preferences/second-factor/passkeys/<int:pk>/remove/",
        views.remove_passkey,
        name="mfa_remove_webauthn",
    ),
    path("preferences/second-factor/codes/", views.recovery_codes_shown, name="mfa_view_recovery_codes"),
    path(
        "preferences/second-factor/codes/new/", views.recovery_codes_made, name="mfa_generate_recovery_codes"
    ),
    path("people/", people.people, name="people"),
    path("people/new/", people.new_person, name="new_person"),
    path("people/<int:person_id>/", people.person, name="person"),
    path("people/tokens/", token_pages.tokens, name="tokens"),
    path("people/tokens/new/", token_pages.new_token, name="new_token"),
    path("people/tokens/<str:key_id>/revoke/", token_pages.revoke_token, name="revoke_token"),
]
