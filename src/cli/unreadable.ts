/** Why a file cannot be read, in words instead of the system's code and call. */
export function whyUnreadable(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return (code !== undefined && reasons[code]) || message;
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file or folder",
  EACCES: "you have no right to read it",
  EISDIR: "it is a folder",
  ENOTDIR: "a part of its path is no folder",
};
