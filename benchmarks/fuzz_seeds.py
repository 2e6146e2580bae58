"""Sound files of every ARFF dialect and of label XML, from which fuzz_arff.py starts."""

MULAN = "Mulan"


def header(relation, *attributes):
    lines = [f"@relation {relation}", *(f"@attribute {each}" for each in attributes), "@data", ""]
    return "\n".join(lines)


FEATURES = ("a numeric", "b {0,1}", "c {u,v,'w x'}", "d real")
LABELS = ("y {0,1}", "'z 1' {1,0}")
DENSE_ROWS = "1,0,2.5,1,u,-3\n0,1,?,0,v,1e-3\n% comment\n\n1,1,12345678901234567,?,?,.5\n"
LAST_ROWS = "2.5,1,u,-3,1,0\n?,0,v,1e-3,0,1\n-0.0,?,?,+5.,1,1\n"
SPARSE_ROWS = "{0 1,2 2.5,4 v}\n{}\n{1 0, 3 ?,5 -7}\n{ 2 1e300 , 4 'w x' }\n"
NAMES = [f"id{i}" for i in range(12)]
NAMED_ROWS = "".join(f"{name},{i % 3},{i % 2}\n" for i, name in enumerate(NAMES))
NAMED_SPARSE = "".join(f"{{0 {name},1 {i % 3}}}\n" for i, name in enumerate(NAMES))
ALPHABET = "{k,l,m,n,o,p,q,r,s,t}"
TEXTS = {
    "MEKA, labels first": header("'r: -C 2'", *LABELS, *FEATURES) + DENSE_ROWS,
    "MEKA, labels last": header("'r: -C -2 -S 9'", *FEATURES, *LABELS) + LAST_ROWS,
    "MEKA, sparse": header("'r: -C 2'", *LABELS, *FEATURES) + SPARSE_ROWS,
    MULAN: header("r", *FEATURES, *LABELS) + LAST_ROWS,
    "quoted": header('"r: -C -1"', "'it\\'s' real", "\"a, b\" {'u',\"v w\",'\\\\\\n'}", "y {0,1}")
    + "1,'u',1\n2,\"v w\",'0'\n '3' , '\\\\\\n' ,1\n?,?,1\n",
    "single class": header("r", "a integer", "k {red,'sea green'}") + "1,red\n2,'sea green'\n",
    "last attribute is the class": header("r", "f {u,v,w}", "Class {x,y}") + "u,x\n?,y\nw,x\n",
    "truth values": header("'r: -C 1'", "y {FALSE,TRUE}", "a {YES,NO}", "b {t,f}", "c {1,-1}")
    + "TRUE,YES,f,1\nFALSE,?,t,-1\n",
    "numeric labels": header("'r: -C 1'", "y numeric", "a real") + "1,nan\n0,-inf\n1.0,5\n",
    "many categories": header("'r: -C -1'", f"a {ALPHABET}", "b real", "y {0,1}")
    + "".join(f"{letter},{i},1\n" for i, letter in enumerate("klmklmkkkklmn")),
    "nominal identifier": header("'r: -C -1'", f"a {{{','.join(NAMES)}}}", "b real", "y {0,1}")
    + NAMED_ROWS,
    "string identifier": header("'r: -C -1'", "a string", "b real", "y {0,1}") + NAMED_ROWS,
    "sparse identifier": header("'r: -C -1'", "a string", "b real", "y {0,1}") + NAMED_SPARSE,
    "quoted identifier": header("'r: -C -1'", "a string", "b real", "y {0,1}")
    + "".join(f"'i {name}',{i % 3},{i % 2}\n" for i, name in enumerate(NAMES)),
    "string and date": header("'r: -C 1'", "y {0,1}", "c string", "a date 'yyyy-MM-dd'", "b real")
    + "1,'x, y',\"2001-01-01\",2\n0,plain,?,3\n",
    "tabs and spaces": header("'r:  -C 1'", "y\t{ 0 , 1 }", "a\t REAL % comment")
    + " 1 ,\t2\n\t0\t, 3 \n\n   \n%\n",
    "no rows": header("'r: -C 1'", "y {0,1}", "a real"),
    "no newline at the end": (header("'r: -C 1'", "y {0,1}", "a real") + "1,2\n0,3").rstrip("\n"),
    "capitals": "@RELATION r\n@ATTRIBUTE é {漢,b}\n@ATTRIBUTE f REAL\n@DATA\n漢,1\nb , 2\n",
}
ARFF = {dialect: text.encode() for dialect, text in TEXTS.items()}
ARFF["UTF-8 with byte order mark"] = b"\xef\xbb\xbf" + ARFF["capitals"]
ARFF["CR LF"] = ARFF["MEKA, labels first"].replace(b"\n", b"\r\n")
ARFF["CR LF, sparse"] = ARFF["MEKA, sparse"].replace(b"\n", b"\r\n")
ARFF["CR"] = ARFF["quoted"].replace(b"\n", b"\r")

DECLARATION = "<?xml version='1.0' encoding='{}'?>\n"
PLAIN_XML = '<labels xmlns="http://mulan.sourceforge.net/labels">\n<label name="y"></label>\n'
PLAIN_XML += '<label name="z 1"></label>\n</labels>\n'
NESTED = "<labels><label name='z 1'><label name='y'/></label></labels>"
PREFIXED = "<m:labels xmlns:m='urn:m'><!-- é --><m:label name='y'/>&#10;</m:labels>"
REFERENCES = "<labels><label name='&#122; 1'/><label name='&#x79;'/><![CDATA[x]]></labels>"
XML = [
    PLAIN_XML.encode(),
    b"\xef\xbb\xbf" + DECLARATION.format("utf-8").encode() + NESTED.encode(),
    REFERENCES.encode(),
    *((DECLARATION.format(codec) + PREFIXED).encode(codec) for codec in ("utf-8", "iso-8859-1")),
    *((DECLARATION.format(codec) + PREFIXED).encode(codec) for codec in ("utf-16", "cp1252")),
    NESTED.encode("utf-16-le"),
    DECLARATION.format("us-ascii").encode() + NESTED.replace("\n", "\r\n").encode(),
]

WORDS = (
    ", { } ' \" % ? @ \\ | 0 1 - . + e E 1e 1e999 nan inf -inf 0x1 1_0 {} {0 {0} ?, ,, '' \"\" \\q"
)
WORDS += (
    " \\777 \\u12 \\n \\' \\u0000 @data @attribute @relation numeric string date {a,b} {a,a} -1"
)
WORDS += (
    " 28 99999999999 -C <labels> </labels> <label/> & &a; &#0; &#xD800; <!DOCTYPE <![CDATA[ ]]> -->"
)
WORDS += " utf-8 utf-16 utf8 utf-7 ucs-4 latin-1 cp037 idna punycode undefined zlib big5 rot13"
FRAGMENTS = [word.encode() for word in WORDS.split()]
FRAGMENTS += [
    b"\n",
    b"\r",
    b"\r\n",
    b"\t",
    b" ",
    b"\x00",
    b"\x1c",
    b"\xff",
    b"\xff\xfe",
    b"-C ",
    b"% ",
]
FRAGMENTS += [b"\xef\xbb\xbf", b"\xc2\x85", b"\xc2\xa0", b"\xed\xa0\x80", b"9" * 40, b"v" * 70]
FRAGMENTS += [b'<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>', b"<?xml version='1.0'?>"]
