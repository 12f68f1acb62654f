// What the scripted model says. Each answer exercises a part of the renderer.

const LOAD_LINE = `A **Plimsoll mark** is the load line painted on a ship's hull. It shows how deep the ship may lie in the water before she is overloaded.

## Why it exists

In the 1870s Samuel Plimsoll campaigned against "coffin ships": overloaded, overinsured, and sent to sea all the same. The *Merchant Shipping Act* of 1876 made the mark compulsory.

1. The circle with a line through it is the summer load line in salt water.
2. The ladder of lines beside it allows for season and water:
   - \`TF\` tropical fresh water
   - \`F\` fresh water
   - \`S\` summer, \`W\` winter

| Mark | Water | Draught |
| --- | --- | ---: |
| TF | tropical fresh | deepest |
| S | summer | the circle |
| WNA | winter North Atlantic | shallowest |

Buoyancy decides the rest: the ship sinks until $\\rho g V = m g$, so fresh water, being lighter, lets her sit deeper.

> The mark is read before she leaves, not when the sea comes over the rail.
`;

const CODE = `Here is a small function that says whether one more box may come aboard.

\`\`\`rust
/// The largest load that keeps the waterline at or below the mark.
fn may_load(mark: Bytes, aboard: Bytes, extra: Bytes) -> Result<Bytes, Overload> {
    let total = aboard.checked_add(extra).ok_or(Overload::Overflow)?;
    if total > mark {
        return Err(Overload::Above { needed: total, mark });
    }
    Ok(total)
}
\`\`\`

It refuses *before* the load is taken, and says by how much. With a draught $d$ and a freeboard $f$:

$$
d + f = D
$$

See [the IMO's page on load lines](https://www.imo.org/) for the real rules.
`;

const CHINESE = `**载重线标志**（普利姆索尔标志）画在船体两侧，表示船舶在安全范围内可以吃水多深。

- 圆圈与横线：夏季海水载重线
- \`TF\`、\`F\`：热带淡水、淡水
- \`W\`：冬季

超过这条线，船就不能离港。Plimsoll 对内存也是同样的做法：**先量好，再装载**。
`;

const SHORT = 'The capital of France is **Paris**.';

export const CONTINUATION =
  ' and the harbour lay quiet under a thin fog. The pilot read the mark twice, wrote the figure into his book, and only then let go the lines.';

export function answerTo(prompt: string): string {
  if (/[\u4e00-\u9fff]/.test(prompt)) return CHINESE;
  if (/capital|首都/i.test(prompt)) return SHORT;
  if (/code|function|rust/i.test(prompt)) return CODE;
  if (/long|story|essay/i.test(prompt)) return Array.from({ length: 12 }, () => LOAD_LINE).join('\n');
  return LOAD_LINE;
}

/** A stand-in for a tokenizer: a count that grows with the text the way a real one does. */
export function countTokens(text: string): number {
  return (text.match(/[\u3040-\u9fff]|[\p{L}\p{N}]{1,5}|[^\s\p{L}\p{N}]/gu) ?? []).length;
}

/** The same pieces with their white space, so that joining them gives the text back. */
export function pieces(text: string): string[] {
  return text.match(/\s*(?:[\u3040-\u9fff]|[\p{L}\p{N}]{1,5}|[^\s\p{L}\p{N}])|\s+$/gu) ?? [];
}
