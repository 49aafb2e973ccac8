// Verify a release with nothing but Node: node verify.mjs ENVELOPE PEM. Exit 1: not signed by the key. Exit 4: no release.
import { createPublicKey, verify } from "node:crypto";
import { readFileSync } from "node:fs";

const [envelopePath, keyPath] = process.argv.slice(2);
const envelope = JSON.parse(readFileSync(envelopePath, "utf8"));
const key = createPublicKey(readFileSync(keyPath));
const payload = Buffer.from(envelope.payload, "base64"); // reads the URL-safe alphabet, too
const payloadType = Buffer.from(envelope.payloadType, "utf8");

// What is signed is the pre-authentication encoding (DSSE 1.0.2); lengths count bytes.
const signed = Buffer.concat([
  Buffer.from(`DSSEv1 ${payloadType.length} `),
  payloadType,
  Buffer.from(` ${payload.length} `),
  payload,
]);

// `keyid` is a hint that decides nothing: the key is tried on every signature.
const isSigned = envelope.signatures.some(({ sig }) => verify(null, signed, key, Buffer.from(sig, "base64")));
if (!isSigned) {
  console.error("not signed by this key, or changed since");
  process.exit(1);
}

// The types are looked at after the signature and before anything else is read.
const statement = envelope.payloadType === "application/vnd.in-toto+json" ? JSON.parse(payload.toString("utf8")) : {};
if (
  statement._type !== "https://in-toto.io/Statement/v1" ||
  statement.predicateType !== "urn:ethos-review:answer-release:v1"
) {
  console.error("signed, but not a release");
  process.exit(4);
}

const { answer_status, released_claim_ids } = statement.predicate.release;
console.log(JSON.stringify({ answer_status, released_claim_ids }));
