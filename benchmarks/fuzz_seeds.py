"""Sound text files of every format, from which fuzz_files.py starts, and what it puts into them."""

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

CSV = [
    "x,w,l,m\n1.5,a,0,1\n2,b,1,0\n,a,1,1\n3e2,?,0,0\n",
    'x;w;l;m\n1,5;\'a\';0;1\n2.000,5;"b;c";1;0\n3;"d\ne";1;1\n',
    "\ufeffx\ty\tl\tm\r\n1\t2\tTrue\tno\r\n3\t4\tFalse\tyes\r\n",
    "größe|wann|l|m\n1|2024-12-31|0|1\n2|2025-01-31 10:20|1|0\n",
    "x,name,n,l,m\n" + "".join(f"{i / 7},id{i},{i},{i % 2},{i % 3 % 2}\n" for i in range(12)),
    "x,y,l,m\n1,2,cat,1\n3,4,dog,0\n\n5,6,cat,1\n",
]
CSV = [
    text.encode(codec)
    for text in CSV
    for codec in ("utf-8", "utf-16", "cp1252")
    if codec != "cp1252" or "\ufeff" not in text
]
SVMLIGHT = [
    b"0,2 1:0.5 3:2 # a comment\n 2:1e-3\n1 1:-4 4:7\n",
    b"3 6 4\n0,3 0:1.5 5:2\n 1:0.25\n2 4:1e-3\n",
    b"cat 1:1\n".replace(b"cat", b"1000000") + b"-1 qid:3 2:1\n1.50 3:.5\n",
    b"# comment\n1 1:1 2:2\n\n2 1:1\r\n1 3:nan\n",
]
PLANS = [
    b'title = "Tiny"\nabout = "a"\ndatasets = ["emotions", "flags"]\nmethods = ["MLDA", "none"]\n'
    b'classifiers = ["3-NN", "MLkNN"]\nfolds = 2\ndimensions = [1, 2]\nstandardize = false\n'
    b"[parameters.MLDA]\nridge = 0.5\n[max_rows]\nemotions = 90\n[train_rows]\nflags = 100\n",
    b'kind = "gallery"\nmethods = ["fuzz_evil:A", \'OPLS{"ridge": 1}\']\ndimensions = [2]\n'
    b'seed = 3\n[data.mine]\nfile = "mine.csv"\nlabels = "label_*"\nignore = ["a"]\n',
    b'datasets = ["yeast"]\nmethods = ["kaLDA", "ExtraTrees"]\nclassifiers = ["k-NN"]\n'
    b'thresholds = 2\n[tune]\nfolds = 2\nscore = "macro_f1_tuned"\nneighbors = [1, 5]\n'
    b"[tune.grid.kaLDA]\nshrinkage = [0.1, 0.5]\n",
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
WORDS += (
    ' [] [ ] "" [[ "x" null true false NaN Infinity = : ; # [x] [[x]] x= 2024-01-01 1.5 0:1 5:'
    " 2147483647 2147483648 999999999 9223372036854775807 -9223372036854775808 1e308 l m x y"
)
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
    b"[" * 2000,
    b"\x80\x04",
    b"\x93NUMPY",
    b"PK\x03\x04",
    b"PAR1",
    b"descr",
    b"|O",
    b"<f8",
    b"<U9",
    b"(4, 3)",
    b"2000000000",
]
FRAGMENTS += [b"\xef\xbb\xbf", b"\xc2\x85", b"\xc2\xa0", b"\xed\xa0\x80", b"9" * 40, b"v" * 70]
FRAGMENTS += [b'<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>', b"<?xml version='1.0'?>"]
