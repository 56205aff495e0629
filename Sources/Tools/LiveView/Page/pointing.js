// What the pointer and the keys point at on the map: a device, a cluster or a host; and the device that is dragged.

export const pointed = { device: null, cluster: null, host: null };
export const drag = { device: null, strength: null };
