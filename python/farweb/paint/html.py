"""Pages of HTML with everything inside them.

A page refers to nothing outside and runs no script: its content policy forbids both.
"""

from html import escape


def framed(title: str, style: str, body: str) -> str:
    """A page.

    Args:
        title: Its title, as text.
        style: Its style sheet.
        body: Its content, as HTML.
    """
    return _PAGE.format(title=escape(title), style=style, body=body)


_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
{body}
</body>
</html>
"""
