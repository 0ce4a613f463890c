/**
 * What a cron expression looks like, as a regular expression that the API server can ask: RE2, without look-ahead. It knows
 * neither time zones nor ranges that run backwards; those are found by `parseSchedule`, and said in a condition.
 */
export const cronPattern: string = (() => {
  const item = (value: string): string => `(?:[*?]|(?:${value})(?:-(?:${value}))?)(?:/0*[1-9][0-9]*)?`;
  const field = (value: string): string => `${item(value)}(?:,${item(value)})*`;
  const fields = [
    "[0-5]?[0-9]",
    "[01]?[0-9]|2[0-3]",
    "0?[1-9]|[12][0-9]|3[01]",
    "0?[1-9]|1[0-2]|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec",
    "0?[0-7]|sun|mon|tue|wed|thu|fri|sat",
  ];
  const names = "@(?:yearly|annually|monthly|weekly|daily|midnight|hourly)";
  return `(?i)^\\s*(?:(?:CRON_)?TZ=\\S+\\s+)?(?:${names}|${fields.map(field).join("\\s+")})\\s*$`;
})();
