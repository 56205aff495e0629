// What survives a reload of the page, in the tab alone.

export const remember = (key, value) => sessionStorage.setItem(key, JSON.stringify(value));

export function recall(key, otherwise = null) {
  const text = sessionStorage.getItem(key);
  return text === null ? otherwise : JSON.parse(text);
}
