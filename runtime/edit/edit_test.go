package edit

import (
	"slices"
	"testing"
)

func TestBytes(t *testing.T) {
	t.Parallel()
	b := New([]byte("one two three"))
	b.Replace(4, 7, "2")
	b.Insert(4, "<")
	b.Insert(4, "-")
	b.Insert(13, "!")
	b.Insert(0, ">")
	if got, want := string(b.Bytes()), ">one <-2 three!"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestOverlapPanics(t *testing.T) {
	t.Parallel()
	b := New([]byte("abcdef"))
	b.Replace(1, 4, "x")
	b.Replace(2, 3, "y")
	defer func() {
		if recover() == nil {
			t.Error("overlapping edits were accepted")
		}
	}()
	b.Bytes()
}

// TestDouble: an owner's edits are in the first copy of its part only, those of others in both.
func TestDouble(t *testing.T) {
	t.Parallel()
	b := New([]byte("a(b[c]d)e"))
	b.Own(1)
	b.Insert(2, "1")
	b.Insert(7, "1")
	b.Double(2, 7, "<", "|", 1)
	b.Own(2)
	b.Insert(3, "!") // before the inner part, as its signature is
	b.Insert(4, "2")
	b.Insert(5, "2")
	b.Double(4, 5, "{", ":", 2)
	b.Own(0)
	b.Insert(8, "0")
	if got, want := string(b.Bytes()), "a(<1b![{2c2:c]d1|b![{2c2:c]d)0e"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	want := []Copy{{2, 4, Section{8, 11}, Section{12, 13}}, {2, 4, Section{21, 24}, Section{25, 26}},
		{1, 2, Section{3, 16}, Section{17, 28}}}
	if got := b.Copies(); !slices.Equal(got, want) {
		t.Errorf("copies at %v, expected %v", got, want)
	}
}

// TestAppend: the copy with an owner's edits follows the text, and parts that stand twice are in
// both.
func TestAppend(t *testing.T) {
	t.Parallel()
	b := New([]byte("a(b[c]d)e"))
	b.Own(1)
	b.Insert(2, "1")
	b.Append(2, 7, "#", 1)
	b.Own(2)
	b.Insert(4, "2")
	b.Double(4, 5, "{", ":", 2)
	b.Own(0)
	b.Insert(9, "0")
	if got, want := string(b.Bytes()), "a(b[{2c:c]d)e0#1b[{2c:c]d"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	want := []Copy{{2, 4, Section{5, 7}, Section{8, 9}}, {1, 2, Section{15, 25}, Section{2, 11}},
		{2, 4, Section{19, 21}, Section{22, 23}}}
	if got := b.Copies(); !slices.Equal(got, want) {
		t.Errorf("copies at %v, expected %v", got, want)
	}
}

// TestDoubleWithout: a part that an owner named queued is not in the second copy, and of several
// owners of edits only those named are left out.
func TestDoubleWithout(t *testing.T) {
	t.Parallel()
	b := New([]byte("a(b[c]d)e"))
	b.Own(1)
	b.Insert(3, "1")
	b.Double(4, 5, "{", ":", 1)
	b.Own(2)
	b.Insert(4, "2")
	b.Insert(6, "2")
	b.Double(2, 7, "<", "|", 1, 3)
	b.Own(3)
	b.Insert(6, "3")
	if got, want := string(b.Bytes()), "a(<b1[{2c:2c]23d|b[2c]2d)e"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// TestDoubleNested: a part without a byte, adjacent parts, and three levels.
func TestDoubleNested(t *testing.T) {
	t.Parallel()
	b := New([]byte("abcdef"))
	for i, part := range [][2]int{{0, 6}, {1, 3}, {2, 2}, {4, 5}} {
		b.Own(i)
		b.Double(part[0], part[1], "<", "|", i)
	}
	if got, want := string(b.Bytes()), "<a<b<|c|b<|cd<e|ef|a<b<|c|b<|cd<e|ef"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	b = New([]byte("abcdef"))
	b.Own(1)
	b.Double(1, 4, "<", "|")
	b.Own(2)
	b.Double(3, 6, "<", "|")
	defer func() {
		if recover() == nil {
			t.Error("parts that overlap were accepted")
		}
	}()
	b.Bytes()
}
