/// The constant parts of a report's page.
enum HTMLReportParts {
    static let body = """
        <header>
        <h1 id="title"></h1>
        <p id="summary"></p>
        <ul id="failures" aria-label="What failed"></ul>
        <nav>
        <input id="search" type="search" placeholder="Search: a device, 2A37, error" aria-label="Search">
        <button id="out" aria-label="Zoom out">−</button>
        <button id="in" aria-label="Zoom in">+</button>
        <button id="fit">Fit</button>
        </nav>
        <ul id="legend" aria-label="Legend"></ul>
        </header>
        <main>
        <section id="chart" aria-label="Lanes over time"></section>
        <p id="detail" role="status"></p>
        <ol id="lines" aria-label="Lines of the trace"></ol>
        </main>
        """

    static let style = """
        :root { color-scheme: light dark; --back: #fff; --text: #1c2128; --dim: #667080; --line: #dde1e7;
          --row: #f6f7f9; --good: #2f7d4f; --bad: #c8352b; --wait: #b36b00; --link: #5b7fc4; --scan: #8672c4;
          --seen: #7c8aa0; --value: #1f5fbf; --control: #8a3fb0; }
        @media (prefers-color-scheme: dark) { :root { --back: #14171c; --text: #e4e8ee; --dim: #98a3b3;
          --line: #2c323c; --row: #1b1f26; --good: #57b07a; --bad: #ff7a6e; --wait: #e8a33c; --link: #86a9e6;
          --scan: #ab9be0; --seen: #7f8da3; --value: #7fb0ff; --control: #cf8ff0; } }
        * { box-sizing: border-box; }
        body { margin: 0; background: var(--back); color: var(--text); font: 14px/1.45 system-ui, sans-serif; }
        header, #detail { padding: 12px 16px; }
        h1 { font-size: 18px; margin: 0; overflow-wrap: anywhere; }
        p { margin: 4px 0; color: var(--dim); }
        nav { display: flex; gap: 6px; margin: 8px 0; }
        nav input { flex: 1; min-width: 0; max-width: 420px; }
        input, button { font: inherit; color: inherit; background: var(--row); border: 1px solid var(--line);
          border-radius: 6px; padding: 5px 10px; }
        #failures { margin: 0; padding: 0; list-style: none; }
        #failures button { border: 0; background: none; padding: 2px 0; text-align: left; color: var(--bad);
          cursor: pointer; overflow-wrap: anywhere; }
        #failures .open button { color: var(--wait); }
        #legend { display: flex; flex-wrap: wrap; gap: 2px 14px; margin: 0; padding: 0; list-style: none;
          color: var(--dim); font-size: 12px; }
        #legend i { display: inline-block; width: 10px; height: 10px; border-radius: 2px; margin-right: 5px; }
        #chart { overflow-x: auto; border-block: 1px solid var(--line); }
        .lane { position: relative; border-bottom: 1px solid var(--line); }
        .lane:nth-child(even) { background: var(--row); }
        .lane h2 { position: sticky; left: 0; width: max-content; max-width: 92vw; margin: 0; padding: 3px 16px 0;
          font-size: 12px; font-weight: 600; }
        .lane h2 small { color: var(--dim); font-weight: 400; }
        svg { display: block; overflow: visible; }
        svg text { fill: var(--text); font-size: 11px; }
        svg .inside { fill: var(--back); pointer-events: none; }
        .axis text { fill: var(--dim); }
        .axis line { stroke: var(--line); }
        .hit { cursor: pointer; }
        .hit:hover, .hit:focus { filter: brightness(1.25); outline: none; }
        .faded { opacity: .15; }
        #detail { position: sticky; bottom: 0; background: var(--back); border-top: 1px solid var(--line);
          min-height: 44px; margin: 0; color: var(--text); overflow-wrap: anywhere; }
        #lines { margin: 0; padding: 8px 16px 40px; list-style: none; font: 12px/1.5 ui-monospace, monospace; }
        #lines li { overflow-wrap: anywhere; padding-left: 2ch; text-indent: -2ch; }
        #lines .failed { color: var(--bad); }
        #lines .note { color: var(--wait); }
        #lines .near { background: var(--row); box-shadow: -6px 0 var(--value); }
        """

    static let script = HTMLReportScript.text
}
