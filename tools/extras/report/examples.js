// What a classifier takes for what, and the examples that a model finds hardest.

// A matrix of counts: a row is a class, a column what the model answered. Cells are shaded by their share of the row.
function confusionTable({ names, confusion }) {
  const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);
  const share = (part, all) => (all > 0 ? percent(part / all) : "");
  const rows = names.map((name, k) => {
    const all = sum(confusion[k]), answers = sum(confusion.map((row) => row[k]));
    const cells = confusion[k].map((count, answer) =>
      shaded(whole(count), all > 0 ? count / all : 0, `${name}, taken for ${names[answer]}: ${whole(count)}`));
    return [name, ...cells, share(confusion[k][k], answers), share(confusion[k][k], all)];
  });
  return shadedTable(["class", ...names, "precision", "recall"], rows);
}

function hardestTable(hardest) {
  const rows = hardest.map(({ place, given, wanted, answer, loss }) => [place, given, wanted, answer, short(loss)]);
  return table(["line", "given", "wanted", "the model's answer", "loss"], rows, "examples");
}

function examplesOf(run) {
  const { classes, hardest } = run.record;
  const box = el("div", {});
  if (classes) {
    box.append(el("h3", {}, "Confusion matrix"),
      el("p", { class: "faint" }, "A row is a class, a column what the model answered."), confusionTable(classes));
  }
  if (hardest) {
    box.append(el("h3", { class: "later" }, `The ${hardest.length} hardest examples`), hardestTable(hardest));
  }
  return box;
}

function examplesSection() {
  const runs = data.runs.filter(({ record }) => record.classes || record.hardest);
  return runs.length > 0 && perRun("examples", "Examples", runs, examplesOf,
    "Of the last evaluation. Hard are the examples with the largest loss per target.");
}
