"""A small OpenID provider on the loopback interface, which can also misbehave."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key

CLIENT_ID, CLIENT_SECRET = "ethos-review", "a shared secret"


class Provider:
    """`claims` go into the next ID token, signed with `signing_key`; `sent` is what clients asked for."""

    def __init__(self) -> None:
        self.key = generate_private_key(65537, 2048)
        self.signing_key: RSAPrivateKey | str = self.key
        self.header: dict[str, Any] = {"alg": "RS256", "kid": "first"}
        self.claims: dict[str, Any] = {}
        self.without_id_token = False
        self.issuer = ""
        self.said_issuer = ""
        self.challenge = ""

    def documents(self) -> dict[str, Any]:
        public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key()))
        return {
            "/.well-known/openid-configuration": {
                "issuer": self.said_issuer or self.issuer,
                "authorization_endpoint": f"{self.issuer}/authorize",
                "token_endpoint": f"{self.issuer}/token",
                "userinfo_endpoint": f"{self.issuer}/userinfo",
                "jwks_uri": f"{self.issuer}/keys",
                "token_endpoint_auth_methods_supported": ["client_secret_post"],
            },
            "/keys": {"keys": [public | {"kid": "first", "alg": "RS256", "use": "sig"}]},
            "/userinfo": {"sub": "someone else", "groups": ["operators"]},
        }

    def answer_token(self, form: dict[str, list[str]]) -> dict[str, Any]:
        verifier = hashlib.sha256(form["code_verifier"][0].encode()).digest()
        assert base64.urlsafe_b64encode(verifier).decode().rstrip("=") == self.challenge
        assert (form["client_id"], form["client_secret"]) == ([CLIENT_ID], [CLIENT_SECRET])
        now = int(time.time())
        claims = {
            "iss": self.issuer,
            "aud": CLIENT_ID,
            "sub": "42",
            "iat": now,
            "exp": now + 60,
        } | self.claims
        token = jwt.encode(
            {name: value for name, value in claims.items() if value is not None},
            self.signing_key,
            algorithm=self.header["alg"],
            headers={name: value for name, value in self.header.items() if name != "alg"},
        )
        answer = {"access_token": "opaque", "token_type": "Bearer", "expires_in": 60}
        return answer if self.without_id_token else answer | {"id_token": token}


@contextmanager
def running_provider() -> Iterator[Provider]:
    provider = Provider()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.reply(provider.documents()[urlsplit(self.path).path])

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            self.reply(provider.answer_token(parse_qs(body)))

        def reply(self, document: Any) -> None:
            content = json.dumps(document).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        provider.issuer = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield provider
        finally:
            server.shutdown()
            thread.join()


def settings_for(provider: Provider, roles: dict[str, str]) -> dict[str, Any]:
    """What the setting OIDC holds for it; `roles` by the values of its claim “groups”."""
    return {
        "issuer": provider.issuer,
        "client_id": CLIENT_ID,
        "client_secret": CLIENT_SECRET,
        "name": "Example ID",
        "scopes": ["openid", "profile"],
        "roles_claim": "groups",
        "roles": roles,
    }
