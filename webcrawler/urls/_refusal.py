"""Which links are not worth a request."""

from __future__ import annotations

from collections.abc import Collection

from webcrawler.urls._traps import trap

MAX_LENGTH = 2_083  # characters; what browsers once took, and the cap

# Endings of files that cannot be indexed: only HTML and XHTML are documents. Any other ending is fetched and
# judged by its type. Left out because pages have them: php, asp, cgi, jsp, pl, xml, md, com, and numbers.
_PICTURES = """png apng jpg jpeg jpe jfif gif svg svgz bmp ico tif tiff webp avif heic psd ai xcf xpm
    xbm pnm pbm pgm ppm"""
_SOUNDS_AND_FILMS = """mp3 m4a aac ogg oga opus flac wav wma mid midi aif aiff ra ram m3u pls mp4 m4v
    mkv webm avi mov qt mpg mpeg mpe wmv flv ogv 3gp swf srt vtt"""
_ARCHIVES_AND_PROGRAMS = """zip gz tgz tar bz2 tbz tbz2 xz txz lz lzma zst z 7z rar jar war ear cab
    arj lha lzh cpio iso img dmg deb rpm apk msi exe dll so dylib bin pkg whl egg gem class pyc o a wasm
    torrent"""
_PAPER_AND_OFFICE = """pdf ps eps dvi djvu doc docx dot dotx rtf xls xlsx xlsm ppt pptx pps ppsx odt
    ods odp odg sxw epub mobi azw azw3 chm vsd mdb"""
_TEXT = """txt text csv tsv json jsonl geojson rss atom rdf xsl xslt xsd dtd wsdl tex bib ics
    vcf diff patch css js mjs map h c py"""
_FONTS_AND_DATA = """ttf otf woff woff2 eot asc sig gpg pgp md5 sha1 sha256 sqlite db dat dmp pcap"""
UNINDEXABLE = frozenset(
    " ".join(
        (
            _PICTURES,
            _SOUNDS_AND_FILMS,
            _ARCHIVES_AND_PROGRAMS,
            _PAPER_AND_OFFICE,
            _TEXT,
            _FONTS_AND_DATA,
        )
    ).split()
)


def refusal(url: str, protocols: Collection[str]) -> str:
    """Return why a canonical URL is not worth taking in: "scheme", "extension", "length" or a trap, else "".

    Args:
        protocols: those that are fetched, lower case: a subset of http and https.
    """
    if url[: url.index(":")] not in protocols:
        return "scheme"
    if len(url) > MAX_LENGTH:
        return "length"
    return "extension" if _extension(url) in UNINDEXABLE else trap(url)


def _extension(url: str) -> str:
    """Return the ending of the path's last segment, lower case; "" for none, and for names like `.zip`."""
    path = url.partition("?")[0]
    stem, _, extension = path[path.rindex("/") + 1 :].rpartition(".")
    return extension.lower() if stem else ""
