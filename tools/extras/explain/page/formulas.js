// Formulas: a little of TeX as MathML.

const mathNames = { cdot: "·", odot: "⊙", mu: "μ", sigma: "σ", epsilon: "ε", gamma: "γ", beta: "β", top: "⊤", theta: "θ",
  infty: "∞", sum: "∑", Phi: "Φ", times: "×", pi: "π", leq: "≤", tau: "τ" };

function mathElement(tag, ...children) {
  const element = document.createElementNS("http://www.w3.org/1998/Math/MathML", tag);
  element.append(...children);
  return element;
}

// exp, max: a little apart from what follows.
function functionName(name) {
  const space = mathElement("mspace");
  space.setAttribute("width", "0.15em");
  return mathElement("mrow", mathElement("mi", name), space);
}

// Reads one formula: letters, numbers and signs; _ ^ { } \frac{}{} \sqrt{} \text{} and the names above.
class FormulaReader {
  constructor(tex) {
    this.tokens = tex.match(/\\text\{[^}]*\}|\\[a-zA-Z]+|[0-9.]+|\S/g) ?? [];
    this.at = 0;
  }

  // Everything up to a closing brace or the end.
  row() {
    const row = mathElement("mrow");
    while (this.at < this.tokens.length && this.tokens[this.at] !== "}") row.append(this.scripted());
    return row;
  }

  group() {
    if (this.tokens[this.at] !== "{") return this.atom();
    ++this.at;
    const row = this.row();
    ++this.at;
    return row;
  }

  // An atom with what stands below and above it.
  scripted() {
    const base = this.atom();
    const scripts = {};
    while (this.tokens[this.at] === "_" || this.tokens[this.at] === "^") {
      const sign = this.tokens[this.at++];
      scripts[sign] = this.group();
    }
    const { _: below, "^": above } = scripts;
    if (below && above) return mathElement("msubsup", base, below, above);
    if (below) return mathElement("msub", base, below);
    return above ? mathElement("msup", base, above) : base;
  }

  atom() {
    const token = this.tokens[this.at++];
    if (token === "{") {
      --this.at;
      return this.group();
    }
    if (token === "\\frac") return mathElement("mfrac", this.group(), this.group());
    if (token === "\\sqrt") return mathElement("msqrt", this.group());
    if (token.startsWith("\\text")) return mathElement("mtext", token.slice(6, -1));
    if (token.startsWith("\\")) {
      const sign = mathNames[token.slice(1)];
      if (!sign) return functionName(token.slice(1));
      return mathElement("∑·⊙∞×≤".includes(sign) ? "mo" : "mi", sign);
    }
    if (/[0-9.]/.test(token)) return mathElement("mn", token);
    const sign = mathElement(/[a-zA-Z]/.test(token) ? "mi" : "mo", token === "-" ? "−" : token);
    if ("()[]".includes(token)) sign.setAttribute("stretchy", "false");
    return sign;
  }
}

const formula = (tex) => mathElement("math", new FormulaReader(tex).row());
