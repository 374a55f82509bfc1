"""The few shapes that the course's drawings are made of, as SVG text.

Every drawing has a white card of its own behind it, so that it can be read on a dark page, too, and
a text that says what it shows for those who don't see it.
"""

from __future__ import annotations

from html import escape

INK, GREY, PALE = "#222222", "#555555", "#f1f3f5"
BLUE, YELLOW, RED, GREEN = "#cfe2ff", "#ffe9a8", "#f8c9c4", "#cdeccd"


def number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


class Drawing:
    def __init__(self, width: int, height: int, says: str) -> None:
        self.width, self.height, self.says = width, height, says
        self.parts: list[str] = []

    def box(self, x: float, y: float, w: float, h: float, fill: str = "white", label: str = "",
            size: int = 12) -> None:  # fmt: skip
        self.parts.append(
            f'<rect x="{number(x)}" y="{number(y)}" width="{number(w)}" height="{number(h)}"'
            f' fill="{fill}" stroke="{GREY}"/>'
        )
        if label:
            self.text(x + w / 2, y + h / 2 + size * 0.36, label, size=size, anchor="middle")

    def text(self, x: float, y: float, words: str, size: int = 12, anchor: str = "start",
             bold: bool = False, fill: str = INK) -> None:  # fmt: skip
        weight = ' font-weight="bold"' if bold else ""
        self.parts.append(
            f'<text x="{number(x)}" y="{number(y)}" font-size="{size}" text-anchor="{anchor}"'
            f' fill="{fill}"{weight}>{escape(words)}</text>'
        )

    def line(self, x1: float, y1: float, x2: float, y2: float, arrow: bool = False,
             width: float = 1, dash: str = "", stroke: str = GREY) -> None:  # fmt: skip
        end = ' marker-end="url(#a)"' if arrow else ""
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(
            f'<line x1="{number(x1)}" y1="{number(y1)}" x2="{number(x2)}" y2="{number(y2)}"'
            f' stroke="{stroke}" stroke-width="{number(width)}"{dashes}{end}/>'
        )

    def dot(self, x: float, y: float, fill: str = INK) -> None:
        self.parts.append(f'<circle cx="{number(x)}" cy="{number(y)}" r="4" fill="{fill}"/>')

    def svg(self) -> str:
        says = escape(self.says, quote=True)
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}"'
            f' width="{self.width}" height="{self.height}" font-family="sans-serif" role="img"'
            f' aria-label="{says}">\n<title>{says}</title>\n'
            '<defs><marker id="a" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7"'
            f' markerHeight="7" orient="auto"><path d="M0,0 L8,4 L0,8 z" fill="{GREY}"/></marker>'
            f'</defs>\n<rect width="{self.width}" height="{self.height}" fill="white"/>\n'
        )
        return head + "\n".join(self.parts) + "\n</svg>\n"
