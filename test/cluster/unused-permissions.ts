/** Rights that a run of the tier need not use, each with the reason why they are granted all the same. */
const accepted: readonly { readonly what: RegExp; readonly account?: RegExp; readonly reason: string }[] = [
  { what: /^list /, reason: "watches begin with a streamed list where the server has them, and list where it has not" },
  { what: /^get /, reason: "looked at anew before a decision that a cache may be too old for" },
  {
    what: /serving\.knative\.dev|monitoring\.coreos\.com|gateway\.networking|snapshot\.storage/,
    reason: "optional API that this cluster does not have",
  },
  {
    what: /\/finalizers$/,
    reason: "asked for by the admission plug-in OwnerReferencesPermissionEnforcement, where it is switched on",
  },
];

export const acceptedReason = (account: string, what: string): string | undefined =>
  accepted.find((entry) => entry.what.test(what) && (entry.account?.test(account) ?? true))?.reason;
