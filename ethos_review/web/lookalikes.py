"""Which Latin letters and digits other characters pass for, as far as names need it.

Chosen by hand after Unicode's list of confusables (UTS 39, confusables.txt): characters of today's scripts that it
lists for an ASCII letter or digit, and small capitals and others that pass for one at a glance. What Unicode itself
decomposes to one, such as full width and mathematical letters, is not repeated here.
"""

from __future__ import annotations

import unicodedata
from typing import Final

# One for one. The first lists are letters that no reader tells from Latin ones.
CYRILLIC: Final = dict(
    zip("АВЕЅІЈКМНОРСТУХҮҺԌԚԜӀѴаеѕіјорсухһԁԍԛԝүӏѵ", "ABESIJKMHOPCTYXYhGQWlVaesijopcyxhdgqwylv", strict=True)
)
GREEK: Final = dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧικνορτυχ", "ABEZHIKMNOPTYXiKvoptux", strict=True))
ARMENIAN: Final = dict(zip("ՕՍօոսց", "OUonug", strict=True))
_CHEROKEE: Final = dict(zip("ᎠᎡᎢᎥᎩᎪᎫᎬᎳᎷᎻᎽᏀᏂᏃᏏᏒᏔᏕᏙᏚᏞᏟᏢᏦᏧᏳᏴ", "DRTiyAJEWMHYGhZbRWSVSLCPKdGB", strict=True))
_COPTIC: Final = dict(zip("ⲀⲂⲈⲎⲒⲔⲘⲚⲞⲢⲤⲦⲨⲬⲟⲣⲥ", "ABEHIKMNOPCTYXopc", strict=True))
_LISU: Final = dict(zip("ꓐꓑꓓꓔꓖꓗꓙꓚꓜꓝꓟꓠꓡꓢꓣꓦꓧꓪꓫꓬꓮꓰꓲꓳꓴ", "BPDTGKJCZFMNLSRVHWXYAEIOU", strict=True))
_SYLLABICS: Final = dict(zip("ᐯᑌᑎᑕᑭᑯᒍᒪᔕᖇᖴᗅᗩᗞᗪᗰᗯᗷᕼ᙭ᕮ", "VUNCPdJLSRFAADDMWBHXE", strict=True))
_TIFINAGH: Final = dict(zip("ⵏⵔⵕⴸⴹⵝ", "lOQVEX", strict=True))
_RIGHT_TO_LEFT: Final = {  # Hebrew, Arabic with its digits, and N'Ko
    **dict.fromkeys("\u05d5\u05df\u0627\u0661\u06f1\u07ca", "l"),
    **dict.fromkeys("\u05e1\u0647\u0665\u06f5\u07c0", "o"),
    **dict.fromkeys("\u0667\u06f7", "v"),
}
_OTHER_LATIN: Final = dict(
    zip("ıȷɩǀɑɡʋᴀʙᴄᴅᴇɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ", "ijilaguabcdeghijklmnoprstuvwyz", strict=True)
)
_SIGNS: Final = dict(zip("∣│⏽℮⍺⍳⍴∪∨⊤", "llleaipuvT", strict=True))
# These pass for a Latin letter in a whole word of their script, or in some typefaces, small capitals included.
_AT_A_GLANCE: Final = dict(zip("вкмнтгпьιαγηωσμհզ", "bkmhtrnbiaynwouhq", strict=True))
_LATIN: Final = str.maketrans(
    CYRILLIC
    | GREEK
    | ARMENIAN
    | _CHEROKEE
    | _COPTIC
    | _LISU
    | _SYLLABICS
    | _TIFINAGH
    | _RIGHT_TO_LEFT
    | _OTHER_LATIN
    | _SIGNS
    | _AT_A_GLANCE
)
# A capital I passes for l, and names are the same in capitals and small letters, so that i is one with l.
_EACH_OTHER: Final = str.maketrans("i1|0", "lllo")


def looks(text: str) -> frozenset[str]:
    """What it looks like, in Latin letters as far as there are such: texts that share one look alike.

    Two, because capitals and small letters look like different ones, and names are the same in either.
    """
    return frozenset(_skeleton(form) for form in (text, text.casefold()))


def _skeleton(text: str) -> str:
    latin = unicodedata.normalize("NFKD", text).translate(_LATIN).casefold().translate(_EACH_OTHER)
    return " ".join(latin.replace("rn", "m").replace("vv", "w").split())
