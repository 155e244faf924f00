"""Swift sources as text, for the scripts that check them."""

import re

_WORDS = re.compile(
    r'//[^\n]*|/\*.*?\*/|(?P<raw>#+)"""(?:.*?)"""(?P=raw)|(?P<line>#+)".*?"(?P=line)'
    r'|"""(?:\\.|.)*?"""|"(?:\\.|[^"\\\n])*"', re.S)


def blanked(text):
    """The text with comments and strings as spaces, so that what is left is code, in its place."""
    return _WORDS.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)
