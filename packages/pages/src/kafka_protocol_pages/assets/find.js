/* Search in the index search.js: entries by name and keywords, best match first. In Node it is a module. */
"use strict";
(function (root, make) {
  if (typeof module === "object" && module.exports) module.exports = make();
  else root.KafkaFind = make();
})(typeof self === "undefined" ? this : self, function () {
  const folded = (text) => text.toLowerCase().replace(/[^a-z0-9]+/g, "");

  /** Yields the entries of an index: {rank, name, what, link, short, keys}; releases also have `release`. */
  function* listed(index) {
    const entry = (rank, name, what, link, keys = name) => ({ rank, name, what, link, short: folded(name), keys: folded(keys) });
    for (const [title, path] of index.pages) yield entry(1, title, "page", path);
    for (const [name, what, link, keys] of index.places) yield entry(2, name, what, link, `${name} ${what} ${keys}`);
    for (const [title, path, headings] of index.prose) {
      yield entry(1, title, "guide", path);
      for (const [heading, slug] of headings) yield entry(3, heading, title, `${path}#${slug}`, `${heading} ${title}`);
    }
    for (const release of index.releases) yield { ...entry(1, `Kafka ${release}`, "release", `releases/${release}.html`), release };
    for (const [code, name] of index.errors) yield entry(2, `${name}`, `error ${code}`, `errors.html#${name}`, `${name} ${code}`);
    for (const [name, members] of index.enumerations) {
      yield entry(2, name, "enumeration", `enumerations.html#${name}`);
      for (const member of members.split(" ")) yield entry(4, member, name, `enumerations.html#${name}`, `${member} ${name}`);
    }
    for (const [name, what, paths] of index.messages) {
      yield entry(0, name, what, `messages/${name}.html`);
      for (const path of paths ? paths.split(" ") : []) {
        yield entry(3, path, name, `messages/${name}.html#f.${path}`, `${name} ${path}`);
      }
    }
  }

  /** Returns the entries with all words of a text; for a number, errors and messages with this number. */
  function matches(entries, text) {
    const words = text.toLowerCase().split(/[\s.]+/).map(folded).filter(Boolean);
    const whole = folded(text);
    if (!words.length) return [];
    const [, release] = /^(?:kafka\s*)?(\d+\.[\d.]*)$/i.exec(text.trim()) ?? [];
    if (release) return entries.filter((each) => each.release?.startsWith(release));
    const [number] = /^-?\d+$/.exec(text.trim()) ?? [];
    const found = [];
    for (const each of entries) {
      if (number) {
        if (each.what === `error ${number}` || each.what.includes(`key ${number},`)) found.push([each.rank, each]);
      } else if (words.every((word) => each.keys.includes(word))) {
        const last = each.short;
        const fit = last === whole ? 0 : last.startsWith(whole) ? 1 : last.endsWith(whole) ? 2 : 3;
        found.push([fit * 10 + each.rank + last.length / 1000, each]);
      }
    }
    found.sort((a, b) => a[0] - b[0]);
    return found.map((each) => each[1]);
  }

  return { listed, matches };
});
