"""PDF and DOCX files, written by hand."""

import io
import zipfile
from collections.abc import Mapping, Sequence

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
MC = "http://schemas.openxmlformats.org/markup-compatibility/2006"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
STYLES = f"""<w:styles xmlns:w="{W}">
<w:style w:styleId="Titel"><w:name w:val="Title"/></w:style>
<w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>
<w:style w:styleId="Mine"><w:name w:val="Mine"/><w:basedOn w:val="berschrift1"/></w:style>
<w:style w:styleId="Second"><w:name w:val="Second"/><w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style>
<w:style w:styleId="Ring"><w:name w:val="Ring"/><w:basedOn w:val="Ring"/></w:style>
</w:styles>"""
RELATIONS = f"""<Relationships xmlns="{PACKAGE}/relationships">
<Relationship Id="r1" Type="{R}/hyperlink" Target="https://example.org/a" TargetMode="External"/>
<Relationship Id="r2" Type="{R}/image" Target="media/image.png"/></Relationships>"""
CORE = f"""<cp:coreProperties xmlns:cp="{PACKAGE}/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:title>{{title}}</dc:title><dc:creator>Ada &amp; Co</dc:creator></cp:coreProperties>"""


def paragraph(text: str, style: str = "") -> str:
    named = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{named}<w:r><w:t>{text}</w:t></w:r></w:p>"


def docx(body: str, title: str = "", parts: Mapping[str, str] | None = None) -> bytes:
    document = f'<w:document xmlns:w="{W}" xmlns:r="{R}" xmlns:mc="{MC}"><w:body>{body}</w:body></w:document>'
    given = {
        "word/document.xml": document,
        "word/styles.xml": STYLES,
        "word/_rels/document.xml.rels": RELATIONS,
        "docProps/core.xml": CORE.format(title=title),
    }
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in (given | dict(parts or {})).items():
            archive.writestr(name, content)
    return file.getvalue()


def pdf(pages: Sequence[Sequence[str]], title: str = "") -> bytes:
    """Each page has lines of text, and a link to https://example.org/ and its number."""
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b"", b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    kids = []
    for number, page in enumerate(pages, 1):
        shown = "".join(f"({line}) Tj T* " for line in page)
        content = f"BT /F1 12 Tf 14 TL 50 750 Td {shown}ET".encode("latin-1")
        link = f"<< /Type /Annot /Subtype /Link /Rect [0 0 9 9] /A << /S /URI /URI (https://example.org/{number}) >> >>"
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content))
        kids.append(len(objects) + 1)
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {len(objects)} 0 R "
            f"/Annots [{link}] /Resources << /Font << /F1 3 0 R >> >> >>".encode()
        )
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(f'{kid} 0 R' for kid in kids)}] /Count {len(kids)} >>".encode()
    objects.append(f"<< /Title ({title}) /Author (Ada) >>".encode("latin-1"))
    return _laid_out(objects)


def _laid_out(objects: Sequence[bytes]) -> bytes:
    data, places = b"%PDF-1.7\n", []
    for number, each in enumerate(objects, 1):
        places.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, each)
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    trailer = f"trailer << /Size {len(objects) + 1} /Root 1 0 R /Info {len(objects)} 0 R >>"
    end = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}{trailer}\nstartxref\n{len(data)}\n%%EOF\n"
    return data + end.encode()
