/** The built-in functions of OPA 1.22: names, operand types and results, in the notation of `types/notation.ts`. */

export interface Signature {
  readonly name: string;
  /** Operand types in notation; the last one starts with `...` for functions that take any number. */
  readonly operands: readonly string[];
  /** Undefined for calls without a result (`print`). */
  readonly result: string | undefined;
  /** May give several results for the same operands (`walk`). */
  readonly isRelation: boolean;
  readonly isDeprecated: boolean;
  readonly isNondeterministic: boolean;
}

const table = `
  abs(number) => number
  all(any<array[any], set[any]>) => boolean # deprecated
  and(set[any], set[any]) => set[any]
  any(any<array[any], set[any]>) => boolean # deprecated
  array.concat(array[any], array[any]) => array[any]
  array.flatten(array[any]) => array[any]
  array.reverse(array[any]) => array[any]
  array.slice(array[any], number, number) => array[any]
  assign(any, any) => boolean
  base64.decode(string) => string
  base64.encode(string) => string
  base64.is_valid(string) => boolean
  base64url.decode(string) => string
  base64url.encode(string) => string
  base64url.encode_no_pad(string) => string
  bits.and(number, number) => number
  bits.lsh(number, number) => number
  bits.negate(number) => number
  bits.or(number, number) => number
  bits.rsh(number, number) => number
  bits.xor(number, number) => number
  cast_array(any) => array[any] # deprecated
  cast_boolean(any) => boolean # deprecated
  cast_null(any) => null # deprecated
  cast_object(any) => object[any: any] # deprecated
  cast_set(any) => set[any] # deprecated
  cast_string(any) => string # deprecated
  ceil(number) => number
  concat(string, any<array[string], set[string]>) => string
  contains(string, string) => boolean
  count(any<string, array[any], object[any: any], set[any]>) => number
  crypto.hmac.equal(string, string) => boolean
  crypto.hmac.md5(string, string) => string
  crypto.hmac.sha1(string, string) => string
  crypto.hmac.sha256(string, string) => string
  crypto.hmac.sha512(string, string) => string
  crypto.md5(string) => string
  crypto.parse_private_keys(string) => array[object[string: any]]
  crypto.sha1(string) => string
  crypto.sha256(string) => string
  crypto.x509.parse_and_verify_certificates(string) => array<boolean, array[object[string: any]]>
  crypto.x509.parse_and_verify_certificates_with_options(string, object[string: any]) => array<boolean, array[object[string: any]]>
  crypto.x509.parse_certificate_request(string) => object[string: any]
  crypto.x509.parse_certificates(string) => array[object[string: any]]
  crypto.x509.parse_keypair(string, string) => object[string: any]
  crypto.x509.parse_rsa_private_key(string) => object[string: any]
  div(number, number) => number
  endswith(string, string) => boolean
  eq(any, any) => boolean
  equal(any, any) => boolean
  floor(number) => number
  format_int(number, number) => string
  glob.match(string, any<null, array[string]>, string) => boolean
  glob.quote_meta(string) => string
  graph.reachable(object[any: any<array[any], set[any]>], any<array[any], set[any]>) => set[any]
  graph.reachable_paths(object[any: any<array[any], set[any]>], any<array[any], set[any]>) => set[array[any]]
  graphql.is_valid(any<string, object[any: any]>, any<string, object[any: any]>) => boolean
  graphql.parse(any<string, object[any: any]>, any<string, object[any: any]>) => array<object[any: any], object[any: any]>
  graphql.parse_and_verify(any<string, object[any: any]>, any<string, object[any: any]>) => array<boolean, object[any: any], object[any: any]>
  graphql.parse_query(string) => object[any: any]
  graphql.parse_schema(string) => object[any: any]
  graphql.schema_is_valid(any<string, object[any: any]>) => boolean
  gt(any, any) => boolean
  gte(any, any) => boolean
  hex.decode(string) => string
  hex.encode(string) => string
  http.send(object[string: any]) => object[any: any] # nondeterministic
  indexof(string, string) => number
  indexof_n(string, string) => array[number]
  internal.member_2(any, any) => boolean
  internal.member_3(any, any, any) => boolean
  internal.print(array[set[any]])
  internal.template_string(array[any]) => string
  internal.test_case(array[any])
  intersection(set[set[any]]) => set[any]
  io.jwt.decode(string) => array<object[any: any], object[any: any], string>
  io.jwt.decode_verify(string, object[string: any]) => array<boolean, object[any: any], object[any: any]> # nondeterministic
  io.jwt.encode_sign(object[string: any], object[string: any], object[string: any]) => string # nondeterministic
  io.jwt.encode_sign_raw(string, string, string) => string # nondeterministic
  io.jwt.verify_eddsa(string, string) => boolean
  io.jwt.verify_es256(string, string) => boolean
  io.jwt.verify_es384(string, string) => boolean
  io.jwt.verify_es512(string, string) => boolean
  io.jwt.verify_hs256(string, string) => boolean
  io.jwt.verify_hs384(string, string) => boolean
  io.jwt.verify_hs512(string, string) => boolean
  io.jwt.verify_ps256(string, string) => boolean
  io.jwt.verify_ps384(string, string) => boolean
  io.jwt.verify_ps512(string, string) => boolean
  io.jwt.verify_rs256(string, string) => boolean
  io.jwt.verify_rs384(string, string) => boolean
  io.jwt.verify_rs512(string, string) => boolean
  is_array(any) => boolean
  is_boolean(any) => boolean
  is_null(any) => boolean
  is_number(any) => boolean
  is_object(any) => boolean
  is_set(any) => boolean
  is_string(any) => boolean
  json.filter(object[any: any], any<array[any<string, array[any]>], set[any<string, array[any]>]>) => object[any: any]
  json.is_valid(string) => boolean
  json.marshal(any) => string
  json.marshal_with_options(any, object<indent: string, prefix: string, pretty: boolean>[string: any]) => string
  json.match_schema(any<string, object[any: any]>, any<string, object[any: any]>) => array<boolean, array[object<desc: string, error: string, field: string, type: string>]> # nondeterministic
  json.patch(any, array[object<op: string, path: any>[any: any]]) => any
  json.remove(object[any: any], any<array[any<string, array[any]>], set[any<string, array[any]>]>) => object[any: any]
  json.unmarshal(string) => any
  json.verify_schema(any<string, object[any: any]>) => array<boolean, any<null, string>> # nondeterministic
  lower(string) => string
  lt(any, any) => boolean
  lte(any, any) => boolean
  max(any<array[any], set[any]>) => any
  min(any<array[any], set[any]>) => any
  minus(any<number, set[any]>, any<number, set[any]>) => any<number, set[any]>
  mul(number, number) => number
  neq(any, any) => boolean
  net.cidr_contains(string, string) => boolean
  net.cidr_contains_matches(any<string, array[any<string, array[any]>], object[string: any<string, array[any]>], set[any<string, array[any]>]>, any<string, array[any<string, array[any]>], object[string: any<string, array[any]>], set[any<string, array[any]>]>) => set[array<any, any>]
  net.cidr_expand(string) => set[string]
  net.cidr_intersects(string, string) => boolean
  net.cidr_is_valid(string) => boolean
  net.cidr_merge(any<array[any<string>], set[string]>) => set[string]
  net.cidr_overlap(string, string) => boolean # deprecated
  net.lookup_ip_addr(string) => set[string] # nondeterministic
  numbers.range(number, number) => array[number]
  numbers.range_step(number, number, number) => array[number]
  object.filter(object[any: any], any<array[any], object[any: any], set[any]>) => object[any: any]
  object.get(object[any: any], any, any) => any
  object.keys(object[any: any]) => set[any]
  object.remove(object[any: any], any<array[any], object[any: any], set[any]>) => object[any: any]
  object.subset(any<array[any], object[any: any], set[any]>, any<array[any], object[any: any], set[any]>) => boolean
  object.union(object[any: any], object[any: any]) => object[any: any]
  object.union_n(array[object[any: any]]) => object[any: any]
  opa.runtime() => object[string: any] # nondeterministic
  or(set[any], set[any]) => set[any]
  plus(number, number) => number
  print(...any)
  product(any<array[number], set[number]>) => number
  providers.aws.sign_req(object[string: any], object[string: any], number) => object[any: any]
  rand.intn(string, number) => number # nondeterministic
  re_match(string, string) => boolean # deprecated
  regex.find_all_string_submatch_n(string, string, number) => array[array[string]]
  regex.find_n(string, string, number) => array[string]
  regex.globs_match(string, string) => boolean
  regex.is_valid(string) => boolean
  regex.match(string, string) => boolean
  regex.replace(string, string, string) => string
  regex.split(string, string) => array[string]
  regex.template_match(string, string, string, string) => boolean
  rego.metadata.chain() => array[any]
  rego.metadata.rule() => any
  rego.parse_module(string, string) => object[string: any]
  rem(number, number) => number
  replace(string, string, string) => string
  round(number) => number
  semver.compare(string, string) => number
  semver.is_valid(any) => boolean
  set_diff(set[any], set[any]) => set[any] # deprecated
  sort(any<array[any], set[any]>) => array[any]
  split(string, string) => array[string]
  sprintf(string, array[any]) => string
  startswith(string, string) => boolean
  strings.any_prefix_match(any<string, array[string], set[string]>, any<string, array[string], set[string]>) => boolean
  strings.any_suffix_match(any<string, array[string], set[string]>, any<string, array[string], set[string]>) => boolean
  strings.count(string, string) => number
  strings.render_template(string, object[string: any]) => string
  strings.replace_n(object[string: string], string) => string
  strings.reverse(string) => string
  strings.split_n(string, string, number) => array[string]
  substring(string, number, number) => string
  sum(any<array[number], set[number]>) => number
  time.add_date(number, number, number, number) => number
  time.clock(any<number, array<number, string>>) => array<number, number, number>
  time.date(any<number, array<number, string>>) => array<number, number, number>
  time.diff(any<number, array<number, string>>, any<number, array<number, string>>) => array<number, number, number, number, number, number>
  time.format(any<number, array<number, string>, array<number, string, string>>) => string
  time.now_ns() => number # nondeterministic
  time.parse_duration_ns(string) => number
  time.parse_ns(string, string) => number
  time.parse_rfc3339_ns(string) => number
  time.weekday(any<number, array<number, string>>) => string
  to_number(any<null, boolean, number, string>) => number
  trace(string) => boolean
  trim(string, string) => string
  trim_left(string, string) => string
  trim_prefix(string, string) => string
  trim_right(string, string) => string
  trim_space(string) => string
  trim_suffix(string, string) => string
  type_name(any) => string
  union(set[set[any]]) => set[any]
  units.parse(string) => number
  units.parse_bytes(string) => number
  upper(string) => string
  uri.is_valid(string) => boolean
  uri.parse(string) => object[string: string]
  urlquery.decode(string) => string
  urlquery.decode_object(string) => object[string: array[string]]
  urlquery.encode(string) => string
  urlquery.encode_object(object[string: any<string, array[string], set[string]>]) => string
  uuid.parse(string) => object[string: any]
  uuid.rfc4122(string) => string # nondeterministic
  walk(any) => array<array[any], any> # relation
  yaml.is_valid(string) => boolean
  yaml.marshal(any) => string
  yaml.unmarshal(string) => any
`;

export const signatures: ReadonlyMap<string, Signature> = new Map(
  table
    .trim()
    .split("\n")
    .map((line) => parseSignature(line.trim()))
    .map((signature) => [signature.name, signature]),
);

export const builtinNames: ReadonlySet<string> = new Set(signatures.keys());

function parseSignature(line: string): Signature {
  const [declaration = "", flags = ""] = line.split(" # ");
  const [call = "", result] = declaration.split(" => ");
  const open = call.indexOf("(");
  return {
    name: call.slice(0, open),
    operands: splitTopLevel(call.slice(open + 1, -1)),
    result,
    isRelation: flags.includes("relation"),
    isDeprecated: flags.includes("deprecated"),
    isNondeterministic: flags.includes("nondeterministic"),
  };
}

/** Splits at commas that are not inside brackets. */
export function splitTopLevel(text: string): readonly string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let index = 0; index < text.length; index++) {
    const char = text[index];
    if (char === "[" || char === "<") depth++;
    else if (char === "]" || char === ">") depth--;
    else if (char === "," && depth === 0) {
      parts.push(text.slice(start, index).trim());
      start = index + 1;
    }
  }
  const last = text.slice(start).trim();
  if (last !== "") parts.push(last);
  return parts;
}
