// The page of a served world. It shows what the server says, as text alone, and sends commands; all logic is the server's.

import "/names.js";
import "/head.js";
import "/devices.js";
import "/inspector.js";
import "/log.js";
import "/strip.js";
import "/past.js";
import "/problems.js";
import "/guide.js";
import { follow } from "/connection.js";
import { changed, declare, drawSoon } from "/drawing.js";
import { element } from "/nodes.js";
import { chooseDevice, selection } from "/selection.js";
import { after, again, begin, onEvent, receive, world } from "/world.js";

// The number of the event that is shown.
declare("sequence", () => { element("log").dataset.sequence = world.sequence; });
onEvent((event) => {
  // The device that was chosen before a reload may be gone.
  if (event.kind === "loaded" && selection.device !== null && !world.devices.has(selection.device)) chooseDevice(null);
  changed("sequence");
  drawSoon();
});
follow({ begin, after, receive, again });
