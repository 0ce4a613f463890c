// Random histories of applies and updates, carried out by structured-merge-diff itself and printed in the format of its
// recorded cases: `peer SEED CASES`. The schema has every kind of list and map; objects are mostly right, and wrong at times.
package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"sort"
	"strconv"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/merge"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

type dummy struct{}

func (dummy) Convert(v *typed.TypedValue, _ fieldpath.APIVersion) (*typed.TypedValue, error) {
	return v, nil
}
func (dummy) IsMissingVersionError(error) bool { return false }

const schemaYaml = `types:
- name: top
  map:
    fields:
    - name: s
      type: {scalar: string}
    - name: "n"
      type: {scalar: numeric}
    - name: b
      type: {scalar: boolean}
    - name: u
      type: {scalar: untyped}
    - name: any
      type: {namedType: deduced}
    - name: anyAtomic
      type: {namedType: atomicAny}
    - name: set
      type:
        list:
          elementType: {scalar: string}
          elementRelationship: associative
    - name: numset
      type:
        list:
          elementType: {scalar: numeric}
          elementRelationship: associative
    - name: alist
      type:
        list:
          elementType: {namedType: item}
          elementRelationship: atomic
    - name: items
      type:
        list:
          elementType: {namedType: item}
          elementRelationship: associative
          keys: [name]
    - name: ports
      type:
        list:
          elementType: {namedType: port}
          elementRelationship: associative
          keys: [port, protocol]
    - name: labels
      type:
        map:
          elementType: {scalar: string}
    - name: alabels
      type:
        map:
          elementType: {scalar: string}
          elementRelationship: atomic
    - name: child
      type: {namedType: top}
    - name: achild
      type:
        namedType: top
        elementRelationship: atomic
    - name: aitems
      type:
        namedType: itemlist
        elementRelationship: atomic
    - name: gitems
      type: {namedType: itemlist}
    - name: open
      type: {namedType: open}
    - name: mapOfItems
      type:
        map:
          elementType: {namedType: item}
    - name: mapOfSets
      type:
        map:
          elementType:
            list:
              elementType: {scalar: string}
              elementRelationship: associative
- name: itemlist
  list:
    elementType: {namedType: item}
    elementRelationship: associative
    keys: [name]
- name: item
  map:
    fields:
    - name: name
      type: {scalar: string}
    - name: value
      type: {scalar: numeric}
    - name: tags
      type:
        list:
          elementType: {scalar: string}
          elementRelationship: associative
    - name: nested
      type: {namedType: itemlist}
- name: port
  map:
    fields:
    - name: port
      type: {scalar: numeric}
    - name: protocol
      type: {scalar: string}
      default: TCP
    - name: name
      type: {scalar: string}
- name: open
  map:
    fields:
    - name: known
      type: {scalar: string}
    elementType: {namedType: deduced}
- name: atomicAny
  scalar: untyped
  list:
    elementType: {namedType: atomicAny}
    elementRelationship: atomic
  map:
    elementType: {namedType: atomicAny}
    elementRelationship: atomic
- name: deduced
  scalar: untyped
  list:
    elementType: {namedType: atomicAny}
    elementRelationship: atomic
  map:
    elementType: {namedType: deduced}
    elementRelationship: separable
`

var r *rand.Rand

func pick[T any](xs ...T) T { return xs[r.Intn(len(xs))] }

func name() string { return pick("a", "b", "c", "d") }

func anyVal(d int) interface{} {
	switch r.Intn(9) {
	case 0:
		return nil
	case 1:
		return pick(true, false)
	case 2:
		return int64(r.Intn(4))
	case 3:
		return pick(1.5, 2.0, -3.25)
	case 4, 5:
		return name()
	case 6:
		if d > 2 {
			return []interface{}{}
		}
		l := []interface{}{}
		for i := r.Intn(3); i > 0; i-- {
			l = append(l, anyVal(d+1))
		}
		return l
	default:
		m := map[string]interface{}{}
		if d > 2 {
			return m
		}
		for i := r.Intn(3); i > 0; i-- {
			m[name()] = anyVal(d + 1)
		}
		return m
	}
}

func list(f func() interface{}) interface{} {
	if r.Intn(14) == 0 {
		return nil
	}
	l := []interface{}{}
	for i := r.Intn(4); i > 0; i-- {
		l = append(l, f())
	}
	return l
}
func mapOf(f func() interface{}) interface{} {
	if r.Intn(14) == 0 {
		return nil
	}
	m := map[string]interface{}{}
	for i := r.Intn(4); i > 0; i-- {
		m[name()] = f()
	}
	return m
}
func str() interface{} {
	if r.Intn(25) == 0 {
		return nil
	}
	if r.Intn(60) == 0 {
		return int64(3)
	}
	return name()
}
func num() interface{} {
	if r.Intn(25) == 0 {
		return nil
	}
	if r.Intn(60) == 0 {
		return "x"
	}
	return pick[interface{}](int64(1), int64(2), int64(80), 1.5, 2.0)
}
func item(d int) func() interface{} {
	return func() interface{} {
		if r.Intn(40) == 0 {
			return nil
		}
		m := map[string]interface{}{}
		if r.Intn(25) != 0 {
			m["name"] = str()
		}
		if r.Intn(2) == 0 {
			m["value"] = num()
		}
		if r.Intn(3) == 0 {
			m["tags"] = list(str)
		}
		if d < 2 && r.Intn(4) == 0 {
			m["nested"] = list(item(d + 1))
		}
		if r.Intn(60) == 0 {
			m["unknown"] = int64(1)
		}
		return m
	}
}
func port() interface{} {
	m := map[string]interface{}{}
	if r.Intn(15) != 0 {
		m["port"] = num()
	}
	if r.Intn(2) == 0 {
		m["protocol"] = pick("TCP", "UDP")
	}
	if r.Intn(2) == 0 {
		m["name"] = str()
	}
	return m
}

func top(d int) interface{} {
	if d > 0 && r.Intn(14) == 0 {
		return nil
	}
	m := map[string]interface{}{}
	n := 1 + r.Intn(6)
	for i := 0; i < n; i++ {
		switch f := pick("s", "n", "b", "u", "any", "anyAtomic", "set", "numset", "alist", "items", "ports", "labels", "alabels", "child", "achild", "aitems", "gitems", "open", "mapOfItems", "mapOfSets", "items", "ports", "set", "any"); f {
		case "s":
			m[f] = str()
		case "n":
			m[f] = num()
		case "b":
			m[f] = pick[interface{}](true, false, nil)
		case "u":
			m[f] = pick[interface{}](true, int64(1), "x", 1.5, nil)
		case "any", "anyAtomic":
			m[f] = anyVal(0)
		case "set":
			m[f] = list(str)
		case "numset":
			m[f] = list(num)
		case "alist", "items", "aitems", "gitems":
			m[f] = list(item(0))
		case "ports":
			m[f] = list(port)
		case "labels", "alabels":
			m[f] = mapOf(str)
		case "child", "achild":
			if d < 2 {
				m[f] = top(d + 1)
			}
		case "open":
			m[f] = mapOf(func() interface{} { return anyVal(1) })
		case "mapOfItems":
			m[f] = mapOf(item(1))
		case "mapOfSets":
			m[f] = mapOf(func() interface{} { return list(str) })
		}
	}
	return m
}

// A small change to what is there, so that histories overlap.
func mutate(v interface{}) interface{} {
	b, _ := json.Marshal(v)
	var c interface{}
	dec := json.NewDecoder(strings.NewReader(string(b)))
	dec.UseNumber()
	dec.Decode(&c)
	c = numbers(c)
	m, ok := c.(map[string]interface{})
	if !ok {
		return top(0)
	}
	t := top(0).(map[string]interface{})
	for k, x := range t {
		m[k] = x
	}
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		if r.Intn(5) == 0 {
			delete(m, name)
		}
	}
	return m
}

func numbers(v interface{}) interface{} {
	switch t := v.(type) {
	case json.Number:
		if i, err := strconv.ParseInt(string(t), 10, 64); err == nil {
			return i
		}
		f, _ := t.Float64()
		return f
	case []interface{}:
		for i := range t {
			t[i] = numbers(t[i])
		}
	case map[string]interface{}:
		for k := range t {
			t[k] = numbers(t[k])
		}
	}
	return v
}

func raw(v interface{}) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

func managers(m fieldpath.ManagedFields) map[string]interface{} {
	out := map[string]interface{}{}
	for k, v := range m {
		b, err := v.Set().ToJSON()
		if err != nil {
			panic(err)
		}
		out[k] = map[string]interface{}{"applied": v.Applied(), "version": string(v.APIVersion()), "fieldsV1": json.RawMessage(b)}
	}
	return out
}

func unstructured(tv *typed.TypedValue) json.RawMessage {
	if tv == nil {
		return json.RawMessage("null")
	}
	b, err := value.ToJSON(tv.AsValue())
	if err != nil {
		panic(err)
	}
	return b
}

func main() {
	seed, _ := strconv.ParseInt(os.Args[1], 10, 64)
	cases, _ := strconv.Atoi(os.Args[2])
	parser, err := typed.NewParser(typed.YAMLObject(schemaYaml))
	if err != nil {
		panic(err)
	}
	enc := json.NewEncoder(os.Stdout)
	enc.SetEscapeHTML(false)
	enc.Encode(map[string]interface{}{"schema": "S", "yaml": schemaYaml})
	for c := 1; c <= cases; c++ {
		r = rand.New(rand.NewSource(seed*1000003 + int64(c)))
		pt := parser.Type("top")
		updater := (&merge.UpdaterBuilder{Converter: dummy{}, ReturnInputOnNoop: false}).BuildUpdater()
		live, _ := pt.FromUnstructured(nil)
		mf := fieldpath.ManagedFields{}
		var last = map[string]interface{}{}
		for o := 0; o < 6; o++ {
			mgr := pick("m1", "m2", "m3")
			op := pick("apply", "apply", "update")
			force := r.Intn(3) == 0
			var obj interface{}
			if prev, ok := last[mgr]; ok && r.Intn(2) == 0 {
				obj = mutate(prev)
			} else if op == "update" && r.Intn(2) == 0 {
				var x interface{}
				dec := json.NewDecoder(strings.NewReader(string(unstructured(live))))
				dec.UseNumber()
				dec.Decode(&x)
				if x == nil {
					x = map[string]interface{}{}
				}
				obj = mutate(numbers(x))
			} else {
				obj = top(0)
			}
			rec := map[string]interface{}{
				"case": c, "converter": "*fixture.dummyConverter", "flags": map[string]bool{"ignored": false, "returnInputOnNoop": false},
				"force": force, "liveBefore": unstructured(live), "manager": mgr, "managersBefore": managers(mf), "object": raw(obj), "op": op,
				"schema": "S", "test": "random", "typeRef": "namedType: top\n", "version": "v3",
			}
			var opts []typed.ValidationOptions
			if op == "update" {
				opts = append(opts, typed.AllowDuplicates)
			}
			var e error
			var nl *typed.TypedValue
			var nm fieldpath.ManagedFields
			tv, e := pt.FromUnstructured(obj, opts...)
			if e == nil {
				cp := mf.Copy()
				if op == "update" {
					nl, nm, e = updater.Update(live, tv, "v3", cp, mgr)
				} else {
					nl, nm, e = updater.Apply(live, tv, "v3", cp, mgr, force)
				}
			}
			if e != nil {
				if cf, ok := e.(merge.Conflicts); ok {
					list := []map[string]string{}
					for _, x := range cf {
						list = append(list, map[string]string{"manager": x.Manager, "path": x.Path.String()})
					}
					sort.Slice(list, func(i, j int) bool { return fmt.Sprint(list[i]) < fmt.Sprint(list[j]) })
					rec["conflicts"] = list
				}
				rec["error"] = e.Error()
				rec["result"] = nil
				rec["managersAfter"] = managers(mf)
			} else {
				if nl != nil {
					live = nl
				}
				mf = nm
				last[mgr] = obj
				rec["result"] = unstructured(live)
				rec["managersAfter"] = managers(mf)
			}
			if nl == nil && e == nil && op == "apply" {
				// Nothing changed.
				rec["result"] = nil
			}
			enc.Encode(rec)
		}
	}
}
