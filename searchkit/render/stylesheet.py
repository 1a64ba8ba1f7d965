"""How a page looks: one style sheet inside it, light or dark as the reader's system is."""

STYLESHEET = """
:root { color-scheme: light dark;
  --ink: #1f2328; --paper: #ffffff; --dim: #656d76; --line: #d0d7de; --box: #f6f8fa; --mark: #fff8c5;
  --red: #a40e26; --green: #116329; --blue: #0550ae; --purple: #6639ba; --added: #dafbe1; --removed: #ffebe9; }
@media (prefers-color-scheme: dark) { :root {
  --ink: #e6edf3; --paper: #0d1117; --dim: #8d96a0; --line: #30363d; --box: #161b22; --mark: #3b2e04;
  --red: #ff7b72; --green: #7ee787; --blue: #79c0ff; --purple: #d2a8ff; --added: #12361f; --removed: #4a1a1d; } }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.4rem; overflow-wrap: anywhere; }
h2 { font-size: 1rem; margin: 1.5rem 0 0; }
pre, code { font: 0.85rem/1.45 ui-monospace, monospace; }
pre { margin: 0.4rem 0; padding: 0.6rem 0.8rem; background: var(--box); border-radius: 6px; overflow-x: auto; }
article { margin: 1.2rem 0 0 calc(var(--depth, 0) * 1.5rem); }
article.joined { margin-top: 0; }
article.hit { background: var(--mark); outline: 0.4rem solid var(--mark); border-radius: 2px; }
article:target { outline: 2px solid var(--blue); }
header { color: var(--dim); font-size: 0.85rem; }
header a { color: inherit; text-decoration: none; }
header .who { color: var(--blue); font-weight: 600; }
.error .who { color: var(--red); }
.prose { white-space: pre-wrap; overflow-wrap: anywhere; }
.output { border-left: 3px solid var(--line); border-radius: 0; }
.error .output { border-left-color: var(--red); }
.note { margin: 1rem 0 0 calc(var(--depth, 0) * 1.5rem); color: var(--dim);
  font-size: 0.9rem; overflow-wrap: anywhere; }
.about { margin: 0.1rem 0; }
.gap, .break { text-align: center; border-top: 1px solid var(--line); padding-top: 0.3rem; }
.way, .agent { color: var(--purple); }
details > summary { cursor: pointer; color: var(--dim); font-size: 0.85rem; }
.compared { display: grid; grid-template-columns: repeat(auto-fit, minmax(20rem, 1fr)); gap: 0 1rem; }
.compared > div { min-width: 0; }
.path { font-weight: 600; }
.added, .removed { display: inline-block; min-width: 100%; }
.added { color: var(--green); background: var(--added); }
.removed { color: var(--red); background: var(--removed); }
.skipped, .comment, .purpose { color: var(--dim); }
.keyword { color: var(--red); } .string { color: var(--green); } .number { color: var(--blue); }
.name { color: var(--purple); }
"""
