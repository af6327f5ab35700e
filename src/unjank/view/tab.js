// Runs in the UI's page, before the UI: tells the server that a tab is open, finds the trace again after a
// reload, and keeps the browser's profile free of copies of the trace.
'use strict';
(() => {
  // The UI does without both, as it does on servers that are not secure contexts.
  delete Navigator.prototype.serviceWorker;
  Object.defineProperty(window, 'caches', {value: undefined});

  const KEY = 'unjank.trace';  // sessionStorage is the tab's own and survives a reload
  const isOurs = (url) => url !== null && url.startsWith(`${location.origin}/`);
  const asked = new URLSearchParams(location.hash.split('?')[1] ?? '').get('url');
  const trace = isOurs(asked) ? asked : sessionStorage.getItem(KEY);
  if (trace === null) return;
  sessionStorage.setItem(KEY, trace);
  if (asked !== trace) history.replaceState(null, '', `#!/?url=${encodeURIComponent(trace)}`);

  // Open as long as the tab is: this connection's end is how the server knows that nobody looks any more.
  const presence = new EventSource(new URL('present', trace));
  presence.onerror = () => presence.close();
})();
