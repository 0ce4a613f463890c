/** Does one piece of work after the other, in the order in which they are asked for; `after` each, whatever came of it. */
export function takeTurns(after: () => void): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const answer = last.then(work);
    last = answer.then(after, after);
    return answer;
  };
}
