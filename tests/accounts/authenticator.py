"""A passkey in software: answers as a browser with a security key would, or a little differently."""

from __future__ import annotations

import secrets
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from fido2.cose import ES256, CoseKey
from fido2.utils import sha256, websafe_encode
from fido2.webauthn import (
    Aaguid,
    AttestationObject,
    AttestedCredentialData,
    AuthenticatorData,
    CollectedClientData,
)

HERE = "http://localhost"
Options = dict[str, Any]


class Passkey:
    def __init__(self) -> None:
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.credential_id = secrets.token_bytes(32)

    def create(
        self, options: Options, origin: str = HERE, changed_key: dict[int, Any] | None = None
    ) -> dict[str, Any]:
        """What `navigator.credentials.create` gives, as JSON has it."""
        asked = options["publicKey"]
        client_data = CollectedClientData.create("webauthn.create", asked["challenge"], origin)
        public_key = CoseKey(ES256.from_cryptography_key(self.key.public_key()) | (changed_key or {}))
        data = AuthenticatorData.create(
            sha256(asked["rp"]["id"].encode()),
            AuthenticatorData.FLAG.UP | AuthenticatorData.FLAG.AT,
            0,
            AttestedCredentialData.create(Aaguid.NONE, self.credential_id, public_key),
        )
        attestation = AttestationObject.create("none", data, {})
        return self._answer(clientDataJSON=client_data, attestationObject=attestation)

    def get(self, options: Options, origin: str = HERE) -> dict[str, Any]:
        """What `navigator.credentials.get` gives, as JSON has it."""
        asked = options["publicKey"]
        client_data = CollectedClientData.create("webauthn.get", asked["challenge"], origin)
        data = AuthenticatorData.create(sha256(asked["rpId"].encode()), AuthenticatorData.FLAG.UP, 1)
        signature = self.key.sign(data + client_data.hash, ec.ECDSA(SHA256()))
        return self._answer(clientDataJSON=client_data, authenticatorData=data, signature=signature)

    def _answer(self, **response: bytes) -> dict[str, Any]:
        name = websafe_encode(self.credential_id)
        return {
            "id": name,
            "rawId": name,
            "type": "public-key",
            "response": {member: websafe_encode(value) for member, value in response.items()},
            "clientExtensionResults": {"credProps": {"rk": False}},
        }
