import BluetoothBackend
import BluetoothSupport
import BluetoothTracing

extension TraceTimeline {
    /// The longest page, in bytes; a longer trace is shown by its last lines.
    package static let pageLimit = 200_000

    /// Returns a self-contained page: lanes over time, the lines of the trace, search.
    ///
    /// It has a light and a dark style, and fits large and small screens. Text from devices is escaped. The page takes at
    /// most 200 kB: it shows the last lines of a longer trace, and the number of those that are left out.
    ///
    /// - Parameter title: The subject of the page: a test, a program.
    public func htmlReport(title: String) -> String { htmlReport(title: title, failure: nil) }

    /// Returns the same page, which begins with the failure of a test.
    package func htmlReport(title: String, failure: TestFailure?) -> String {
        var timeline = self
        while true {
            let page = timeline.page(title, failure)
            let (size, count) = (page.utf8.count, timeline.entries.count)
            guard size > Self.pageLimit, count > 0 else { return page }
            timeline = TraceTimeline(
                timeline.entries, last: min(count - 1, count * Self.pageLimit / size * 9 / 10),
                omitted: timeline.omitted)
        }
    }

    private func page(_ title: String, _ failure: TestFailure?) -> String {
        """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta http-equiv="Content-Security-Policy" \
        content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
        <title>\(failure == nil ? "Bluetooth trace" : "A failed test of Bluetooth")</title>
        <style>
        \(Self.text(PackageResources.report_css))</style>
        </head>
        <body>
        \(Self.text(PackageResources.report_html))<script type="application/json" id="data">\(data(title, failure).text)</script>
        <script>
        \(Self.text(PackageResources.report_js))</script>
        </body>
        </html>

        """
    }

    /// Returns the text of a constant part of the page, which ends with a line end.
    private static func text(_ part: [UInt8]) -> String { String(decoding: part, as: UTF8.self) }

    private func data(_ title: String, _ failure: TestFailure?) -> JSONText {
        JSONText(fields: [
            ("title", JSONText(title)), ("begin", number(min(begin, failure?.begin ?? begin))),
            ("end", number(max(end, failure?.end ?? end))), ("omitted", number(omitted)),
            ("failure", failure.map(json) ?? JSONText(number: "null")), ("lanes", JSONText(list: lanes.map(json))),
            ("lines", JSONText(list: entries.map(json))),
        ])
    }

    private func number(_ time: Duration) -> JSONText { JSONText(number: "\(time.inSeconds)") }

    private func number(_ count: Int) -> JSONText { JSONText(number: "\(count)") }

    private func json(_ failure: TestFailure) -> JSONText {
        JSONText(fields: [
            ("what", JSONText(failure.what)), ("isExpectation", JSONText(number: "\(failure.came != nil)")),
            ("location", JSONText(failure.location)), ("begin", number(failure.begin)), ("end", number(failure.end)),
            ("came", JSONText(list: (failure.came ?? []).map { JSONText($0) })),
            ("cause", JSONText(failure.cause ?? "")), ("history", JSONText(list: failure.history.map { JSONText($0) })),
        ])
    }

    private func json(_ lane: Lane) -> JSONText {
        JSONText(fields: [
            ("kind", JSONText(lane.kind.rawValue)), ("title", JSONText(lane.title)),
            (
                "spans",
                JSONText(
                    list: lane.spans.map { span in
                        JSONText(fields: [
                            ("kind", JSONText(span.kind.rawValue)), ("start", number(span.start)),
                            ("end", number(span.end)),
                            ("lines", JSONText(list: [number(span.lines.lowerBound), number(span.lines.upperBound)])),
                            ("outcome", JSONText(span.outcome.rawValue)),
                            ("name", JSONText(span.name)), ("result", JSONText(span.result)),
                            ("role", JSONText(span.role)), ("latency", JSONText((span.end - span.start).shortText)),
                        ])
                    })
            ),
            (
                "marks",
                JSONText(
                    list: lane.marks.map { mark in
                        JSONText(fields: [
                            ("kind", JSONText(mark.kind.rawValue)), ("time", number(mark.time)),
                            ("line", number(mark.line)),
                            ("name", JSONText(mark.name)), ("detail", JSONText(mark.detail)),
                            ("role", JSONText(mark.role)),
                        ])
                    })
            ),
            (
                "sightings",
                JSONText(
                    list: lane.sightings.map {
                        JSONText(list: [number($0.time), number($0.rssi), number($0.line)])
                    })
            ),
        ])
    }

    private func json(_ entry: TraceEntry) -> JSONText {
        JSONText(fields: [
            ("time", number(entry.time)), ("kind", JSONText(entry.category.rawValue)),
            ("failed", JSONText(number: entry.error == nil ? "false" : "true")), ("text", JSONText(entry.description)),
        ])
    }
}
