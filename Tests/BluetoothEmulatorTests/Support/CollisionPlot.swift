import Foundation

/// The picture of the page "Airtime and collisions": loss by offered load, the measured points on ALOHA's curve.
enum CollisionPlot {
    private static let (left, top, width, height) = (70.0, 30.0, 540.0, 300.0)
    private static let greatestLoad = 4.0

    static func svg(_ points: [(load: Double, loss: Double)]) -> String {
        let curve = stride(from: 0.0, through: greatestLoad, by: 0.05).map { load in
            let (x, y) = position(load, 1 - exp(-2 * load))
            return "\(x),\(y)"
        }
        let loads = stride(from: 0.0, through: greatestLoad, by: 1).map { load in
            let (x, _) = position(load, 0)
            return "<text x=\"\(x)\" y=\"\(top + height + 20)\" text-anchor=\"middle\">\(Int(load))</text>"
        }
        let losses = stride(from: 0.0, through: 1, by: 0.25).map { loss in
            let (_, y) = position(0, loss)
            return """
                <line class="grid" x1="\(left)" x2="\(left + width)" y1="\(y)" y2="\(y)"/>
                <text x="\(left - 8)" y="\(y + 4)" text-anchor="end">\(Int(100 * loss)) %</text>
                """
        }
        let marks = points.map { point in
            let (x, y) = position(point.load, point.loss)
            return "<circle cx=\"\(x)\" cy=\"\(y)\" r=\"5\"/>"
        }
        return (["\(start)"] + losses + loads + ["<polyline points=\"\(curve.joined(separator: " "))\"/>"] + marks)
            .joined(separator: "\n") + "\n" + end + "\n"
    }

    private static func position(_ load: Double, _ loss: Double) -> (String, Double) {
        let x = left + width * load / greatestLoad
        let y = top + height * (1 - loss)
        return (String(format: "%.1f", x), (y * 10).rounded() / 10)
    }

    private static let start = """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 400" width="640" height="400" role="img">
        <title>Lost advertising packets by offered load</title>
        <style>
        svg { background: #ffffff; font: 13px sans-serif }
        text { fill: #24292f }
        .grid { stroke: #d0d7de }
        polyline { fill: none; stroke: #0b7285; stroke-width: 2 }
        circle { fill: #cf222e }
        @media (prefers-color-scheme: dark) {
        svg { background: #0d1117 }
        text { fill: #e6edf3 }
        .grid { stroke: #30363d }
        polyline { stroke: #76e3ea }
        circle { fill: #ff7b72 }
        }
        </style>
        <rect width="100%" height="100%" fill="none"/>
        """

    private static let end = """
        <text x="340" y="385" text-anchor="middle">offered load G of one channel</text>
        <text x="20" y="18">lost packets</text>
        <polyline points="430,200 460,200"/>
        <text x="470" y="204">pure ALOHA: 1 − e^(−2G)</text>
        <circle cx="445" cy="224" r="5"/>
        <text x="470" y="228">the emulator, seed 1</text>
        </svg>
        """
}
