/**
 * Whether a server's sentence is that of a quota. Only the sentence tells: every refusal of admission has the same reason,
 * and a Deployment hands on no more than the sentence.
 */
export const isQuotaRefusal = (message: string | undefined): boolean => sentences.test(message ?? "");

/** In the words of kube-apiserver: too much, not said how much, not counted yet, and limited where nobody has given any. */
const sentences =
  /\b(exceeded quota: |failed quota: |status unknown for quota: |quota usage is negative |insufficient quota to )/;
