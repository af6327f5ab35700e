// Sorts tables and copies SQL. The page is whole without it.
'use strict';
(() => {
  const showScripted = () => document.querySelectorAll('.scripted').forEach((it) => { it.hidden = false; });

  const compare = (isNumber) => (a, b) => isNumber ? Number(b.key) - Number(a.key) : a.key < b.key ? -1 : Number(a.key > b.key);

  function sortBy(table, column, heading) {
    const again = heading.getAttribute('aria-sort');
    const isNumber = heading.classList.contains('number');
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => ({row, key: row.cells[column].dataset.key}));
    rows.sort(compare(isNumber));
    const first = isNumber ? 'descending' : 'ascending';
    const order = again === first ? (isNumber ? 'ascending' : 'descending') : first;
    if (order !== first) rows.reverse();
    table.querySelectorAll('th').forEach((each) => each.removeAttribute('aria-sort'));
    heading.setAttribute('aria-sort', order);
    body.append(...rows.map(({row}) => row));
  }

  function makeSortable(table) {
    [...table.tHead.rows[0].cells].forEach((heading, column) => {
      const button = document.createElement('button');
      button.type = 'button';
      button.append(...heading.childNodes);
      button.addEventListener('click', () => sortBy(table, column, heading));
      heading.append(button);
    });
  }

  // The way without the clipboard's API, which pages from some places may not use.
  function copySelected(pre) {
    getSelection().selectAllChildren(pre);
    return document.execCommand('copy');
  }

  async function copy(button) {
    const pre = button.closest('.code').querySelector('pre');
    let done;
    try {
      await navigator.clipboard.writeText(pre.textContent);
      done = true;
    } catch {
      done = copySelected(pre);
    }
    button.textContent = done ? 'Copied' : 'Selected';
    setTimeout(() => { button.textContent = 'Copy'; }, 2000);
  }

  document.querySelectorAll('table.sortable').forEach(makeSortable);
  document.querySelectorAll('button.copy').forEach((it) => it.addEventListener('click', () => copy(it)));
  showScripted();
})();
