// What to do next, where there is nothing to show: the commands that start an app or add a device, each with a button that copies it.

import { changed, declare } from "/drawing.js";
import { element } from "/nodes.js";
import { onEvent, world } from "/world.js";

// A word of a command line, in quotes where it needs them.
const quoted = (word) => (/^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

function draw() {
  const file = world.file ? ` ${quoted(world.file)}` : "";
  const isOurs = world.clock?.isOurs ?? true;
  element("guide-view").hidden = !isOurs;
  element("guide-served").hidden = isOurs;
  for (const node of document.querySelectorAll("[data-command]")) node.textContent = node.dataset.command.replace(" FILE", file);
}

for (const button of document.querySelectorAll(".copy")) {
  const command = button.parentElement.querySelector("[data-command]");
  button.onclick = async () => {
    try {
      await navigator.clipboard.writeText(command.textContent);
      button.textContent = "Copied";
    } catch {
      // Without permission, the command is selected for the keys that copy.
      getSelection().selectAllChildren(command);
      button.textContent = "Press Ctrl-C";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  };
}

declare("guide", draw);
onEvent(({ kind }) => { if (kind === "loaded") changed("guide"); });
