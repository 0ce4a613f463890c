// Prints, as JSON, how the Go types of the kinds named in the arguments look on the wire: JSON names, what is left out when
// empty, and protobuf field numbers. The arguments are "group/version/Kind" ("/v1/Pod" for the core group).
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"sort"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

type field struct {
	JSON   string `json:"json"`
	Go     string `json:"go"`
	Number string `json:"number"`
	// The proto name of an embedded struct: its fields are inline in JSON and a message of their own in protobuf.
	Inline    string `json:"inline,omitempty"`
	Type      string `json:"type"`
	OmitEmpty bool   `json:"omitEmpty"`
	OmitZero  bool   `json:"omitZero"`
	Pointer   bool   `json:"pointer"`
}

type output struct {
	Kinds   map[string]string  `json:"kinds"`
	Structs map[string][]field `json:"structs"`
}

var special = map[string]string{
	"k8s.io/apimachinery/pkg/apis/meta/v1.Time":                                  "time",
	"k8s.io/apimachinery/pkg/apis/meta/v1.MicroTime":                             "microtime",
	"k8s.io/apimachinery/pkg/apis/meta/v1.Duration":                              "duration",
	"k8s.io/apimachinery/pkg/apis/meta/v1.FieldsV1":                              "fields",
	"k8s.io/apimachinery/pkg/api/resource.Quantity":                              "quantity",
	"k8s.io/apimachinery/pkg/util/intstr.IntOrString":                            "intorstring",
	"k8s.io/apimachinery/pkg/runtime.RawExtension":                               "raw",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSON":              "json",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaPropsOrBool":        "schemaorbool",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaPropsOrArray":       "schemaorarray",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaPropsOrStringArray": "schemaorstrings",
}

var structs = map[string][]field{}

func main() {
	_ = apiextensionsv1.AddToScheme(scheme.Scheme)
	out := output{Kinds: map[string]string{}, Structs: structs}
	for _, name := range os.Args[1:] {
		parts := strings.Split(name, "/")
		gvk := schema.GroupVersionKind{Group: parts[0], Version: parts[1], Kind: parts[2]}
		var t reflect.Type
		switch parts[2] {
		case "DeleteOptions":
			t = reflect.TypeOf(metav1.DeleteOptions{})
		case "Status":
			t = reflect.TypeOf(metav1.Status{})
		default:
			object, err := scheme.Scheme.New(gvk)
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			t = reflect.TypeOf(object).Elem()
		}
		out.Kinds[name] = typeOf(t)
	}
	_ = typeOf(reflect.TypeOf(apiextensionsv1.JSONSchemaProps{}))
	encoder := json.NewEncoder(os.Stdout)
	if err := encoder.Encode(out); err != nil {
		panic(err)
	}
}

func nameOf(t reflect.Type) string {
	path := strings.Split(t.PkgPath(), "/")
	host := strings.Split(path[0], ".")
	sort.SliceStable(host, func(i, j int) bool { return i > j })
	return strings.Join(append(host, path[1:]...), ".") + "." + t.Name()
}

func typeOf(t reflect.Type) string {
	if name, ok := special[t.PkgPath()+"."+t.Name()]; ok {
		return name
	}
	switch t.Kind() {
	case reflect.Pointer:
		return typeOf(t.Elem())
	case reflect.String:
		if t.Name() != "string" {
			return "string:" + t.String()
		}
		return "string"
	case reflect.Bool:
		return "bool"
	case reflect.Int32:
		return "int32"
	case reflect.Int64, reflect.Int:
		return "int64"
	case reflect.Float64:
		return "float64"
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "bytes"
		}
		if t.Name() != "" {
			// A named slice (ExtraValue, Verbs) is a message with repeated field 1 in protobuf.
			return "wrapped[]" + typeOf(t.Elem())
		}
		if t.Elem().Kind() == reflect.Pointer {
			panic("slice of pointers")
		}
		return "[]" + typeOf(t.Elem())
	case reflect.Map:
		return "{}" + typeOf(t.Elem())
	case reflect.Struct:
		return "@" + addStruct(t)
	}
	panic("unknown type " + t.String())
}

func addStruct(t reflect.Type) string {
	name := nameOf(t)
	if _, seen := structs[name]; seen {
		return name
	}
	structs[name] = nil
	fields := []field{}
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() {
			continue
		}
		tag := strings.Split(f.Tag.Get("json"), ",")
		if tag[0] == "-" {
			continue
		}
		options := strings.Join(tag[1:], ",")
		out := field{
			JSON: tag[0], Go: f.Name, Pointer: f.Type.Kind() == reflect.Pointer,
			OmitEmpty: strings.Contains(options, "omitempty"), OmitZero: strings.Contains(options, "omitzero"),
		}
		if parts := strings.Split(f.Tag.Get("protobuf"), ","); len(parts) > 1 {
			out.Number = parts[1]
		}
		if strings.Contains(options, "inline") || (f.Anonymous && tag[0] == "") {
			out.Inline = f.Name
			out.JSON = ""
		}
		out.Type = typeOf(f.Type)
		fields = append(fields, out)
	}
	structs[name] = fields
	return name
}
