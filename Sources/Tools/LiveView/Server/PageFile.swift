import FlyingFox
import Foundation

/// A file of the page, which is part of the program: no path leads to another file.
struct PageFile {
    let type: String
    let bytes: [UInt8]

    /// The files by their paths.
    static let all: [String: PageFile] = [
        "/": .html(PackageResources.index_html),
        "/view.css": .css(PackageResources.view_css),
        "/inspector.css": .css(PackageResources.inspector_css),
        "/camera.js": .script(PackageResources.camera_js),
        "/connection.js": .script(PackageResources.connection_js),
        "/devices.js": .script(PackageResources.devices_js),
        "/drawing.js": .script(PackageResources.drawing_js),
        "/effects.js": .script(PackageResources.effects_js),
        "/guide.js": .script(PackageResources.guide_js),
        "/head.js": .script(PackageResources.head_js),
        "/inspector.js": .script(PackageResources.inspector_js),
        "/log.js": .script(PackageResources.log_js),
        "/map.js": .script(PackageResources.map_js),
        "/mapinput.js": .script(PackageResources.mapinput_js),
        "/marks.js": .script(PackageResources.marks_js),
        "/memory.js": .script(PackageResources.memory_js),
        "/names.js": .script(PackageResources.names_js),
        "/nodes.js": .script(PackageResources.nodes_js),
        "/packets.js": .script(PackageResources.packets_js),
        "/paint.js": .script(PackageResources.paint_js),
        "/past.js": .script(PackageResources.past_js),
        "/playhead.js": .script(PackageResources.playhead_js),
        "/pointing.js": .script(PackageResources.pointing_js),
        "/problems.js": .script(PackageResources.problems_js),
        "/scene.js": .script(PackageResources.scene_js),
        "/search.js": .script(PackageResources.search_js),
        "/selection.js": .script(PackageResources.selection_js),
        "/strength.js": .script(PackageResources.strength_js),
        "/strip.js": .script(PackageResources.strip_js),
        "/theme.js": .script(PackageResources.theme_js),
        "/view.js": .script(PackageResources.view_js),
        "/world.js": .script(PackageResources.world_js),
        "/view.svg": PageFile(type: "image/svg+xml", bytes: PackageResources.view_svg),
    ]

    private static func html(_ bytes: [UInt8]) -> PageFile { PageFile(type: "text/html; charset=utf-8", bytes: bytes) }

    private static func css(_ bytes: [UInt8]) -> PageFile { PageFile(type: "text/css; charset=utf-8", bytes: bytes) }

    private static func script(_ bytes: [UInt8]) -> PageFile {
        PageFile(type: "text/javascript; charset=utf-8", bytes: bytes)
    }

    var response: HTTPResponse {
        HTTPResponse(statusCode: .ok, headers: [.contentType: type], body: Data(bytes))
    }
}
