from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "ethos_review.accounts"

    def ready(self) -> None:
        from allauth.mfa.models import Authenticator
        from allauth.mfa.signals import authentication_failed
        from axes.models import AccessAttempt
        from django.contrib.auth.signals import user_logged_in
        from django.db.models.signals import post_delete, post_save, pre_save

        from ethos_review.accounts import failed_sign_ins, second_factor, sessions

        user_logged_in.connect(sessions.fix_end)
        authentication_failed.connect(second_factor.count_failure)
        pre_save.connect(failed_sign_ins.keep_nothing_typed, sender=AccessAttempt)
        post_save.connect(second_factor.record_added, sender=Authenticator)
        post_delete.connect(second_factor.record_removed, sender=Authenticator)
