"""How the same few addresses can be written: what the reliability table's S1, S2 and S7 list, and more."""

from __future__ import annotations

import socket
from itertools import product

# Each reaches 127.0.0.1 where a resolver reads it as getaddrinfo does (S1).
_NUMBERS = [
    *["127.0.0.1", "127.0.1", "127.1", "2130706433", "0x7f000001", "0X7F000001", "017700000001"],
    *["00000177.0.0.1", "0x7f.1", "0177.1", "127.0x1", "127.0.0x1", "0x7F.0.1", "0177.0x0.1"],
    *["127.000.000.001", "0x00000007f.1", "127.0.0.1.", "127.1.", "2130706433.", "0x7f000001."],
    *[".".join(parts) for parts in product(["0x7f", "0177"], ["0", "0x0"], ["0", "00"], ["1", "0x1", "01"])],
]
_OTHERS_OF_LOOPBACK = ["127.0.0.2", "127.1.2.3", "127.255.255.254", "127.2", "2130706434", "0x7f.2"]
_NOWHERE = ["0", "0.0.0.0", "00", "0x0", "0.0", "0x0.0x0", "0.0.0.0."]
_UNICODE = [
    *["127。0。0。1", "127．0．0．1", "127｡0｡0｡1", "①②⑦.⓪.⓪.①", "１２７.０.０.１", "𝟙𝟚𝟟.𝟘.𝟘.𝟙", "¹²⁷.⁰.⁰.¹"],
    *["127.0.0\u00ad.1", "127.0\u200b.0.1", "127.0.0.\u20601", "0ⅹ7f.1", "0ˣ7f.1", "②①③⓪⑦⓪⑥④③③"],
]
_ENCODED = ["%31%32%37.0.0.1", "127%2e0%2e0%2e1", "127.0.0.%31", "%30%78%37%66.1", "127%E3%80%820.0.1"]
_SPLIT = ["127.0\n.0.1", "127.0\t.0.1", "127.\r\n0.0.1", "\t127.0.0.1"]
_NAMES = [
    *["localhost", "LOCALHOST", "LocalHost", "localhost.", "a.localhost", "a.b.localhost.", "localhost4"],
    *["localhost6", "localhost.localdomain", "ip6-localhost", "ip6-loopback"],
    *[
        "ｌｏｃａｌｈｏｓｔ",
        "ⓛocalhost",
        "loc%61lhost",
        "local\u00adhost",
        "lo\ncalhost",
        socket.gethostname(),
    ],
]
_IPV6 = [
    *["[::1]", "[0:0:0:0:0:0:0:1]", "[0000::0001]", "[::0:1]", "[::]", "[0::0]", "[::0.0.0.1]"],
    *["[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::FFFF:7F00:0001]", "[0:0:0:0:0:ffff:127.0.0.1]"],
    *["[::127.0.0.1]", "[::7f00:1]", "[::ffff:0:7f00:1]", "[::ffff:0.0.0.0]", "[64:ff9b::7f00:1]"],
    *["[64:ff9b::127.0.0.1]", "[64:ff9b:1::7f00:1]", "[2002:7f00:1::]", "[2002:7f00:1::1]", "[2001::1]"],
    *["[fe80::1]", "[fec0::1]", "[fc00::1]", "[fd00:ec2::254]", "[ff02::1]", "[100::1]", "[2001:db8::1]"],
]
_SPECIAL = [
    *["169.254.169.254", "0xa9fea9fe", "2852039166", "169.254.43518", "0251.0376.0251.0376"],
    *["[::ffff:a9fe:a9fe]", "[64:ff9b::a9fe:a9fe]", "[2002:a9fe:a9fe::]", "100.100.100.200", "192.0.0.192"],
    *["168.63.129.16", "10.0.0.1", "10.1", "0xa.1", "012.1", "172.16.0.1", "172.31.255.255", "192.168.0.1"],
    *["192.168.1", "3232235521", "100.64.0.1", "198.18.0.1", "192.0.2.1", "203.0.113.1", "224.0.0.1"],
    *["239.255.255.255", "240.0.0.1", "255.255.255.255", "4294967295", "0xffffffff"],
]
HOSTS = [
    *[*_NUMBERS, *_OTHERS_OF_LOOPBACK, *_NOWHERE, *_UNICODE, *_ENCODED],
    *[*_SPLIT, *_NAMES, *_IPV6, *_SPECIAL],
]
# Before the host: a user name that looks like a server, and ways to say //.
_BEFORE = ["http://user@", "http://public.example@", "http://public.example:80@", "http:\\\\"]
BEHIND_A_USER = [f"{before}{host}" for before, host in product(_BEFORE, ["127.0.0.1", "[::1]"])]

# No URL for a browser (S1, S7): whoever reads a host in these reads another one than the next parser.
MALFORMED = [
    *["[::1%25lo]", "[::1%lo]", "[fe80::1%25eth0]", "[::1", "::1]", "[127.0.0.1]", "127.0.0.1%00"],
    *["127.0.0.1%2f", "127.0.0.1%20", "127.0.0.1%23", "127.0.0.1%40x", "127.0.0.256", "1.2.3.4.5"],
    *["0x7f.0.0.0.1", "127..0.1", "[::ffff:127.0.0.256]", "[::g]", "127.0.0.1^", "127.0.0.1|x", "a b"],
    *["%00", "4294967296"],
]

# Read by one parser as leading to the hub, by another as leading to the canary (S7).
TWO_READINGS = [
    *["http://{hub}\\@{canary}/", "http://{hub}#@{canary}/", "http://{hub}?@{canary}/"],
    *["http://{hub}/@{canary}/", "http://{hub}\\\\@{canary}/", "//{hub}\\@{canary}/"],
    *["http://{hub}/\\{canary}/", "http://{hub}/..//{canary}/", "http://{canary}%2f@{hub}/"],
    *["http://{canary}@{hub}/", "http://{canary}%5c@{hub}/", "http:/{canary}/", "http:{canary}/"],
]

OTHER_SCHEMES = [
    *["file:{file}", "file://{file}", "FILE://{file}", "file://localhost{file}", "\tfile:{file}"],
    *["fi\nle:{file}", "view-source:file://{file}", "jar:http://{canary}!/", "s3://bucket/key"],
    *["ftp://{canary}/", "gopher://{canary}/1", "ws://{canary}/", "dict://{canary}/d", "ldap://{canary}/"],
    *["blob:http://{canary}/x", "data:text/html,<a href='{canary}'>", "javascript:location='//{canary}'"],
]

# Ports that other protocols answer at (S5).
PORTS = [0, 1, 22, 23, 25, 53, 110, 111, 139, 143, 445, 587, 2375, 3306, 5432, 6379, 9200, 11211, 65535]
