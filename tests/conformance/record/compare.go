package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// differences returns a line for each place where two JSON values differ: `path: expected, found`.
func differences(expected, found any) []string {
	return diff("", generic(expected), generic(found))
}

// generic returns a value as JSON has it.
func generic(value any) any {
	var made any
	if err := json.Unmarshal(encode(value), &made); err != nil {
		panic(err)
	}
	return made
}

// encode returns a value as JSON.
func encode(value any) []byte {
	text := &bytes.Buffer{}
	encoder := json.NewEncoder(text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(err) // All values are made of plain types.
	}
	return bytes.TrimSpace(text.Bytes())
}

func diff(path string, expected, found any) []string {
	a, isObject := expected.(map[string]any)
	b, isAlso := found.(map[string]any)
	if isObject && isAlso {
		all := maps.Clone(a)
		maps.Copy(all, b)
		var list []string
		for _, name := range slices.Sorted(maps.Keys(all)) {
			list = append(list, diff(join(path, name), a[name], b[name])...)
		}
		return list
	}
	c, isList := expected.([]any)
	d, isAlso := found.([]any)
	if isList && isAlso && len(c) == len(d) {
		var list []string
		for i := range c {
			list = append(list, diff(fmt.Sprintf("%s[%d]", path, i), c[i], d[i])...)
		}
		return list
	}
	if reflect.DeepEqual(expected, found) {
		return nil
	}
	return []string{fmt.Sprintf("%s: expected %s, found %s", path, text(expected), text(found))}
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// text returns a value for a message.
func text(value any) string {
	if value == nil {
		return "nothing"
	}
	return string(encode(value))
}
