// Signal strengths as distances on the map and as words.

// The strengths of the distances in the emulator.
export const PROXIMITIES = ["immediate", "near", "far", "outOfRange"];
export const PROXIMITY_NAMES = { immediate: "Beside", near: "Near", far: "Far", outOfRange: "Out of range" };
export const STRENGTHS = { immediate: -40, near: -70, far: -100 };

// The rings of the map; beyond the last one a device is out of range.
export const RINGS = [
  { strength: -40, words: "Beside" }, { strength: -70, words: "Near" }, { strength: -100, words: "Far" }, { strength: null, words: "Out of range" },
];
const RADIUS_AT = { nearest: 70, strongest: -30, perDecibel: 3.6 };
export const OUT_OF_RANGE = 395;
// Where a device that is dragged begins to be out of range.
export const EDGE = 358;

export const radiusOf = (strength) =>
  (strength === null || strength === undefined ? OUT_OF_RANGE
    : Math.max(RADIUS_AT.nearest - 10, Math.min(RADIUS_AT.nearest + (RADIUS_AT.strongest - strength) * RADIUS_AT.perDecibel, EDGE - 4)));

// The strength at a radius, in dBm; null out of range.
export const strengthAt = (radius) =>
  (radius > EDGE ? null : Math.round(Math.min(-20, RADIUS_AT.strongest - (radius - RADIUS_AT.nearest) / RADIUS_AT.perDecibel)));

export function proximityOf(strength) {
  if (strength === null) return "outOfRange";
  return strength >= -55 ? "immediate" : strength >= -85 ? "near" : "far";
}

// The change of a device that gives it a strength; the strength of a distance needs no other.
export function placement(strength) {
  const proximity = proximityOf(strength);
  const isExact = strength === null || Math.abs(STRENGTHS[proximity] - strength) <= 1;
  return { proximity, rssi: isExact ? null : strength };
}

export const strengthText = (strength) => (strength === null || strength === undefined ? "not heard" : `${strength} dBm`);
