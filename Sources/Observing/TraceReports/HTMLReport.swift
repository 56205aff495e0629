import BluetoothBackend
import BluetoothSupport
import BluetoothTracing

extension TraceTimeline {
    /// Returns a self-contained page: lanes over time, the lines of the trace, search.
    ///
    /// It has a light and a dark style, and fits large and small screens. Text from devices is escaped.
    ///
    /// - Parameter title: The subject of the page: a test, a program.
    public func htmlReport(title: String) -> String {
        """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta http-equiv="Content-Security-Policy" \
        content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
        <title>Bluetooth trace</title>
        <style>
        \(Self.text(PackageResources.report_css))</style>
        </head>
        <body>
        \(Self.text(PackageResources.report_html))<script type="application/json" id="data">\(data(title).text)</script>
        <script>
        \(Self.text(PackageResources.report_js))</script>
        </body>
        </html>

        """
    }

    /// Returns the text of a constant part of the page, which ends with a line end.
    private static func text(_ part: [UInt8]) -> String { String(decoding: part, as: UTF8.self) }

    private func data(_ title: String) -> JSONText {
        JSONText(fields: [
            ("title", JSONText(title)), ("begin", number(begin)), ("end", number(end)),
            ("omitted", JSONText(number: "\(omitted)")), ("lanes", JSONText(list: lanes.map(json))),
            ("lines", JSONText(list: entries.map(json))),
        ])
    }

    private func number(_ time: Duration) -> JSONText { JSONText(number: "\(time.inSeconds)") }

    private func json(_ lane: Lane) -> JSONText {
        JSONText(fields: [
            ("kind", JSONText(lane.kind.rawValue)), ("title", JSONText(lane.title)),
            (
                "spans",
                JSONText(
                    list: lane.spans.map { span in
                        JSONText(fields: [
                            ("kind", JSONText(span.kind.rawValue)), ("start", number(span.start)),
                            ("end", number(span.end)), ("outcome", JSONText(span.outcome.rawValue)),
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
                            ("name", JSONText(mark.name)), ("detail", JSONText(mark.detail)),
                            ("role", JSONText(mark.role)),
                        ])
                    })
            ),
            (
                "sightings",
                JSONText(
                    list: lane.sightings.map {
                        JSONText(list: [number($0.time), JSONText(number: "\($0.rssi)")])
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
