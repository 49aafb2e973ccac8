"""Settings from the environment; what is missing in production stops the start with a next step."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import environ
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured

from ethos_review.accounts.roles import ROLES

BASE_DIR = Path(__file__).resolve().parent.parent
env = environ.FileAwareEnv()  # NAME_FILE=/path is read as the value of NAME


def secret(name: str) -> str:
    """The value of NAME, or of the file that NAME_FILE names, which nobody but its owner may read."""
    path = os.environ.get(f"{name}_FILE", "")
    try:
        if path and stat.S_IMODE(Path(path).stat().st_mode) & 0o077:
            raise ImproperlyConfigured(f"{name}_FILE can be read by others than its owner: chmod 600 it.")
        return str(env.str(name, default="")).rstrip("\r\n")
    except OSError as error:
        raise ImproperlyConfigured(f"{name}_FILE, {path}, cannot be read: {error.strerror}.") from None


DEBUG = env.bool("ETHOS_REVIEW_DEBUG", default=False)
SECRET_KEY = secret("ETHOS_REVIEW_SECRET_KEY")
if len(SECRET_KEY) < 50:
    raise ImproperlyConfigured(
        "ETHOS_REVIEW_SECRET_KEY is missing or shorter than 50 characters. Set it, or point "
        "ETHOS_REVIEW_SECRET_KEY_FILE at a file with mode 0600; `make demo` makes one for a trial."
    )
ALLOWED_HOSTS = env.list("ETHOS_REVIEW_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS = env.list("ETHOS_REVIEW_TRUSTED_ORIGINS", default=[])

# The private key that signs releases: a PEM PKCS#8 Ed25519 file with mode 0600.
SIGNING_KEY_FILE = env.str("ETHOS_REVIEW_SIGNING_KEY_FILE", default="")
# Instead of the file: the PEM itself, or the URI of a signer of securesystemslib with the file of its public key.
SIGNING_KEY = os.environ.get("ETHOS_REVIEW_SIGNING_KEY", "")
SIGNING_KEY_URI = env.str("ETHOS_REVIEW_SIGNING_KEY_URI", default="")
SIGNING_PUBLIC_KEY_FILE = env.str("ETHOS_REVIEW_SIGNING_PUBLIC_KEY_FILE", default="")
SIGNING_KEY_PASSPHRASE = secret("ETHOS_REVIEW_SIGNING_KEY_PASSPHRASE")
# Public keys (PEM files) of the verifiers whose signed reports are believed.
VERIFIER_KEY_FILES = env.list("ETHOS_REVIEW_VERIFIER_KEY_FILES", default=[])
# The policy document; empty means the built-in conservative policy.
POLICY_FILE = env.str("ETHOS_REVIEW_POLICY_FILE", default="")

# Signing in through an OpenID provider, when its issuer is named; what is incomplete stops the start.
OIDC = None
if OIDC_ISSUER := env.str("ETHOS_REVIEW_OIDC_ISSUER", default=""):
    OIDC = {
        "issuer": OIDC_ISSUER,
        "client_id": env.str("ETHOS_REVIEW_OIDC_CLIENT_ID", default=""),
        "client_secret": secret("ETHOS_REVIEW_OIDC_CLIENT_SECRET"),
        "name": env.str("ETHOS_REVIEW_OIDC_NAME", default="single sign-on"),
        "scopes": env.list("ETHOS_REVIEW_OIDC_SCOPES", default=["openid", "profile"]),
        "roles_claim": env.str("ETHOS_REVIEW_OIDC_ROLES_CLAIM", default="groups"),
        "roles": env.dict("ETHOS_REVIEW_OIDC_ROLES", default={}),
    }
    if not OIDC["client_id"] or not OIDC["client_secret"]:
        raise ImproperlyConfigured(
            "ETHOS_REVIEW_OIDC_ISSUER needs ETHOS_REVIEW_OIDC_CLIENT_ID and ETHOS_REVIEW_OIDC_CLIENT_SECRET."
        )
    if unknown := set(OIDC["roles"].values()) - set(ROLES):
        raise ImproperlyConfigured(
            f"ETHOS_REVIEW_OIDC_ROLES names {', '.join(sorted(unknown))}; the roles are {', '.join(ROLES)}."
        )

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "axes",
    "csp",
    "django_htmx",
    "ethos_review.accounts",
    "ethos_review.audit",
    "ethos_review.reviews",
    "ethos_review.web",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",  # before whatever may answer, static files included
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "ethos_review.web.caching.kept_by_nobody",  # after static files, which are kept
    "ethos_review.web.nul.without_nul",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "axes.middleware.AxesMiddleware",
    "ethos_review.reviews.views.unreadable.UnreadableReviews",
    "ethos_review.web.broken_text.without_broken_text",
]
ROOT_URLCONF = "ethos_review.urls"
WSGI_APPLICATION = "ethos_review.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": False,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    }
]

DATABASE_URL = secret("DATABASE_URL") or f"sqlite:///{BASE_DIR}/var/ethos_review.sqlite3"
DATABASES = {"default": env.db_url_config(DATABASE_URL)}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    # Writers queue instead of failing with “database is locked”: they lock at BEGIN and wait; readers go on.
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,  # seconds
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON;",
    }
else:
    # The server keeps its plan of each statement that a connection uses often; what the URL says comes first.
    given = DATABASES["default"].get("OPTIONS", {})
    DATABASES["default"]["OPTIONS"] = {"server_side_binding": True, "prepare_threshold": 3, **given}
# Connections are kept, and tried before use: a database that was gone for a while needs no restart here.
DATABASES["default"]["CONN_MAX_AGE"] = 60  # seconds
DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
SERIALIZATION_MODULES = {"rows": "ethos_review.exact_rows"}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "ethos_review.accounts.backends.RoleBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {
        "NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator",
        "OPTIONS": {"user_attributes": ["username", "display_name", "email"]},
    },
    {"NAME": "ethos_review.accounts.passwords.NotOnlyNames"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
PASSWORD_RESET_TIMEOUT = 24 * 60 * 60  # seconds in which a link to choose a password works
LOGIN_URL = "sign_in"
LOGIN_REDIRECT_URL = "queue"
LOGOUT_REDIRECT_URL = "sign_in"
AXES_FAILURE_LIMIT = 10
AXES_COOLOFF_TIME = 0.25  # hours
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_RESET_ON_SUCCESS = True
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False  # the page names an end; trying again does not move it
AXES_HANDLER = "ethos_review.accounts.failed_sign_ins.Handler"
AXES_USERNAME_CALLABLE = "ethos_review.accounts.failed_sign_ins.counted_name"
AXES_LOCKOUT_CALLABLE = "ethos_review.accounts.views.locked_out"
AXES_VERBOSE = False
AXES_SENSITIVE_PARAMETERS = ["username", "ip_address"]  # not logged; of what is typed, nothing is kept
SESSION_ENGINE = "ethos_review.accounts.sessions"  # ends with the browser, too
SESSION_COOKIE_AGE = 12 * 60 * 60  # seconds after signing in: a working day

ACCOUNT_ADAPTER = "ethos_review.accounts.adapters.AccountAdapter"
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*", "password2*"]  # what allauth checks; nobody signs up
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_REAUTHENTICATION_METHODS = ("password", "mfa", "openid")
# How long who confirmed that it is them is not asked again; a few minutes, for who steals the session has them, too.
CONFIRMATION_MINUTES = env.int("ETHOS_REVIEW_CONFIRMATION_MINUTES", default=10)
if not 1 <= CONFIRMATION_MINUTES <= 60:
    raise ImproperlyConfigured("ETHOS_REVIEW_CONFIRMATION_MINUTES is a number from 1 to 60.")
ACCOUNT_REAUTHENTICATION_TIMEOUT = CONFIRMATION_MINUTES * 60  # seconds
ACCOUNT_RATE_LIMITS = False  # django-axes counts in the database, which all processes share
SOCIALACCOUNT_ADAPTER = "ethos_review.accounts.openid.SocialAdapter"
SOCIALACCOUNT_LOGIN_ON_GET = True
SOCIALACCOUNT_PROVIDERS = {
    "openid_connect": {"provider_class": "ethos_review.accounts.openid.OpenIdProvider"}
}
MFA_ADAPTER = "ethos_review.accounts.second_factor.MfaAdapter"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_TOTP_ISSUER = "Ethos Review"
MFA_RECOVERY_CODES_SHOW_ONCE = True
MFA_FORMS = {
    "authenticate": "ethos_review.accounts.second_factor.SignInCodeForm",
    "reauthenticate": "ethos_review.accounts.second_factor.ConfirmCodeForm",
    "add_webauthn": "ethos_review.accounts.passkeys.AddForm",
    "edit_webauthn": "ethos_review.accounts.passkeys.NameForm",
    "authenticate_webauthn": "ethos_review.accounts.passkeys.SignInPasskeyForm",
    "reauthenticate_webauthn": "ethos_review.accounts.passkeys.ConfirmPasskeyForm",
}

# Plain HTTP is for a trial on the loopback interface only.
HTTPS = not env.bool("ETHOS_REVIEW_PLAIN_HTTP", default=False)
SECURE_SSL_REDIRECT = HTTPS
SESSION_COOKIE_SECURE = HTTPS
CSRF_COOKIE_SECURE = HTTPS
SECURE_HSTS_SECONDS = 365 * 24 * 60 * 60 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = HTTPS
SECURE_HSTS_PRELOAD = HTTPS
if env.bool("ETHOS_REVIEW_BEHIND_PROXY", default=False):
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_HTTPONLY = True
X_FRAME_OPTIONS = "DENY"
CSRF_FAILURE_VIEW = "ethos_review.web.errors.csrf_failure"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    }
}

STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = env.str("ETHOS_REVIEW_STATIC_ROOT", default=str(BASE_DIR / "var" / "static"))
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.InMemoryStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
# A request is refused before it is parsed when it is larger than its sender may send; then part by part.
DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024  # form fields, in bytes
DATA_UPLOAD_MAX_NUMBER_FIELDS = 100
DATA_UPLOAD_MAX_NUMBER_FILES = 8
FILE_UPLOAD_HANDLERS = ["ethos_review.reviews.uploads.BoundedUploadHandler"]

LANGUAGE_CODE = "en"
USE_I18N = False
USE_TZ = True
TIME_ZONE = "UTC"
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "plain": {
            "()": "ethos_review.web.logs.Formatter",
            "format": "%(asctime)s %(levelname)s %(name)s: %(message)s",
        }
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "plain"}},
    "root": {"handlers": ["console"], "level": "INFO"},
    # Sign-ins and second factors are events of the audit chain.
    # A refusal is an ordinary answer; a failure of the server is not.
    "loggers": {
        "axes": {"level": "WARNING"},
        "fido2": {"level": "WARNING"},
        "django.request": {"level": "ERROR"},
    },
}
