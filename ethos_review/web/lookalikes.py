"""Which Latin letters other letters pass for: from Unicode's list of confusables (UTS 39), as far as names need it."""

from __future__ import annotations

import unicodedata
from typing import Final

# One for one. The first lists are letters that no reader tells from Latin ones.
CYRILLIC: Final = dict(
    zip("АВЕЅІЈКМНОРСТУХҮҺԌԚԜаеѕіјорсухһԁԛԝүӏ", "ABESIJKMHOPCTYXYhGQWaesijopcyxhdqwyl", strict=True)
)
GREEK: Final = dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧικνορτυχ", "ABEZHIKMNOPTYXiKvoptux", strict=True))
ARMENIAN: Final = dict(zip("ՕՍօոսց", "OUonug", strict=True))
_CHEROKEE: Final = dict(zip("ᎠᎡᎢᎥᎩᎪᎫᎬᎳᎷᎻᎽᏀᏂᏃᏏᏒᏔᏕᏙᏚᏞᏟᏢᏦᏧᏳᏴ", "DRTiyAJEWMHYGhZbRWSVSLCPKdGB", strict=True))
# These pass for a Latin letter in a whole word of their script, or in some typefaces, small capitals included.
_AT_A_GLANCE: Final = dict(zip("вкмнтгпιαγηωσμ", "bkmhtrniaynwou", strict=True))
_EACH_OTHER: Final = dict(zip("Il1|0ıɑɡ", "llllOiag", strict=True))  # Latin letters and digits
_LATIN: Final = str.maketrans(CYRILLIC | GREEK | ARMENIAN | _CHEROKEE | _AT_A_GLANCE | _EACH_OTHER)


def looks(text: str) -> frozenset[str]:
    """What it looks like, in Latin letters as far as there are such: texts that share one look alike.

    Two, because capitals and small letters look like different ones, and names are the same in either.
    """
    return frozenset(_skeleton(form) for form in (text, text.casefold()))


def _skeleton(text: str) -> str:
    latin = unicodedata.normalize("NFKD", text).translate(_LATIN).casefold()
    return " ".join(latin.replace("rn", "m").replace("vv", "w").split())
