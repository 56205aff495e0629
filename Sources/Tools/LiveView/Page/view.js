// The page of a served world. It shows what the server says, as text alone, and sends commands; all logic is the server's.

import "/head.js";
import "/map.js";
import "/inspector.js";
import "/links.js";
import "/log.js";
import { follow } from "/connection.js";
import { changed, declare, drawSoon } from "/drawing.js";
import { element } from "/nodes.js";
import { load, next, onEvent, receive, world } from "/world.js";

// The number of the event that is shown.
declare("sequence", () => { element("log").dataset.sequence = world.sequence; });
onEvent(() => { changed("sequence"); drawSoon(); });
follow({ load, next, receive });
