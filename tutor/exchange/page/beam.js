// The tree of a beam search, as BeamView draws it (chapter 09).
import { lengthPenalty } from "./decoding.js";

/** steps: of each step the candidates, the best first; winner: [step, index] of one, or null.
 *
 * history: the pool of every step, as `beamSearch` keeps it. readable: from ids to tokens.
 */
export function treeOf(history, readable, alpha) {
  const steps = [];
  let before = [{ step: 0, index: 0, total: 0, ended: false }]; // of each beam its candidate
  for (const pool of history) {
    const candidates = [];
    const after = pool.map(({ parent, ids, total, length, ended }) => {
      const from = before[parent];
      if (from.ended) return from; // in the tree it stands where it ended
      candidates.push({
        parent: from.index,
        token: readable(ids.slice(-1))[0],
        log_prob: total - from.total,
        total,
        score: total / lengthPenalty(length, alpha),
        state: ended ? "finished" : "live",
      });
      return { step: steps.length, index: candidates.length - 1, total, ended };
    });
    for (const beam of before) // a finished one that better ones have pushed out
      if (beam.ended && !after.includes(beam)) steps[beam.step][beam.index].state = "pruned";
    if (candidates.length) steps.push(candidates);
    before = after;
  }
  const finished = steps.flatMap((candidates, i) =>
    candidates.flatMap(({ state, score }, j) =>
      state === "finished" ? [{ score, at: [i, j] }] : [],
    ),
  );
  finished.sort((a, b) => b.score - a.score);
  return { steps, winner: finished[0]?.at ?? null };
}
