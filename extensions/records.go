package extensions

import (
	"maps"
	"slices"

	"qinst.dev/sddf/spec"
)

// records are the kinds of records of a file, and those that extensions make.
type records struct {
	byTag   map[uint32]*spec.Record
	defined map[uint32]*spec.Record // of the file's, those that the result has so far
	made    map[string]uint32       // tags of those that extensions make
	next    uint32
}

func newRecords() records {
	return records{map[uint32]*spec.Record{}, map[uint32]*spec.Record{}, map[string]uint32{}, spec.FirstUserTag}
}

// found notes a kind of record of the file.
func (rs *records) found(rec *spec.Record) {
	rs.byTag[rec.Tag] = rec
	rs.next = max(rs.next, rec.Tag+1)
}

// tag gives a kind of record a tag, that of an equal kind in the file if there is one. It returns
// the record to define otherwise, at its first use.
func (rs *records) tag(rec *spec.Record) (tag uint32, added *spec.Record) {
	if tag, ok := rs.made[rec.Name]; ok {
		return tag, nil
	}
	for _, tag := range slices.Sorted(maps.Keys(rs.defined)) {
		if old := rs.defined[tag]; tag >= spec.FirstUserTag && old.Name == rec.Name &&
			slices.EqualFunc(old.Fields, rec.Fields,
				func(a, b spec.Field) bool { return a.Name == b.Name && a.Type == b.Type }) {
			rs.made[rec.Name] = tag
			return tag, nil
		}
	}
	own := *rec
	own.Tag = rs.next
	rs.next++
	rs.made[rec.Name], rs.byTag[own.Tag] = own.Tag, &own
	return own.Tag, &own
}
